// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/yaml.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/fixture.h"

// What keeps a file from being read at all, and the bounds that hold against hostile text.
namespace rdma_exporter::config {
namespace {

using namespace std::string_literals;

std::string problem(std::string_view text) { return message(parse_yaml(text, "x.yml")); }

std::string repeated(std::string_view unit, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += unit;
  return text;
}

TEST(ConfigYaml, KeepsOrderLinesAndQuoting) {
  const auto root = parse_yaml("a: 'x'\nb:\n  - 1\n  - {c: ~}\n", "x.yml");
  ASSERT_TRUE(root) << message(root);
  ASSERT_EQ(root->children.size(), 2u);
  const YamlNode& a = root->children[0];
  EXPECT_EQ(a.key, "a");
  EXPECT_EQ(a.text, "x");
  EXPECT_TRUE(a.is_quoted);
  const YamlNode& b = root->children[1];
  EXPECT_EQ(b.kind, YamlNode::Kind::list);
  EXPECT_EQ(b.key_line, 2u);
  ASSERT_EQ(b.children.size(), 2u);
  EXPECT_EQ(b.children[0].text, "1");
  EXPECT_FALSE(b.children[0].is_quoted);
  EXPECT_EQ(b.children[0].line, 3u);
  ASSERT_EQ(b.children[1].children.size(), 1u);
  EXPECT_EQ(b.children[1].children[0].key, "c");
  EXPECT_EQ(b.children[1].children[0].kind, YamlNode::Kind::empty);
}

TEST(ConfigYaml, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(problem("a: 1\nb: [1, 2\nc: 3\n"), "x.yml:3: not valid YAML: a [ is never closed");
  EXPECT_EQ(problem("a: b: c\n"), "x.yml:1: not valid YAML: illegal map value");
  EXPECT_EQ(problem("a: 1\n b: 2\n").substr(0, 25), "x.yml:2: not valid YAML: ");
  EXPECT_EQ(problem("a:\n  b: 1\n c: 2\n"),
            "x.yml:3: not valid YAML: the indentation of this line matches none of the lines above");
  EXPECT_EQ(problem("a: *\n"), "x.yml:1: not valid YAML: a value that starts with * needs quotes");
  EXPECT_EQ(problem("a:\n\tb: 1\n"), "x.yml:2: indented with a tab (use spaces)");
  EXPECT_EQ(problem("a:\n\t# comment\n\t\n  b: 1\n"), "accepted");
  EXPECT_EQ(problem("%YAML 9.9.9\n---\na: 1\n").substr(0, 25), "x.yml:1: not valid YAML: ");
}

TEST(ConfigYaml, NoticesAQuoteThatSwallowsTheRestOfTheFile) {
  EXPECT_EQ(problem("a: \"open"), "x.yml:2: not valid YAML: a quote is still open here");
  EXPECT_EQ(problem("a: \"open\n"), "x.yml:2: not valid YAML: a quote is still open here");
  EXPECT_EQ(problem("a: 1\nb: 'open\nc: 1\n"), "x.yml:4: not valid YAML: a quote is still open here");
  EXPECT_EQ(problem("a: 1\n'b: 1\n"), "x.yml:3: not valid YAML: a quote is still open here");
}

TEST(ConfigYaml, RefusesWhatIsNotText) {
  EXPECT_EQ(problem("a: 1\nb: \0\n"s), "x.yml:2: not text: a control character");
  EXPECT_EQ(problem("\x7f"
                    "ELF\x02\x01"),
            "x.yml:1: not text: a control character");
  EXPECT_EQ(problem("a: 1\nb: \xff\xfe\n"), "x.yml:2: not text: not UTF-8");
  EXPECT_EQ(problem("\xff\xfe"
                    "a\0:\0"s),
            "x.yml:1: not text: a control character");
  EXPECT_EQ(problem("a: \x1b[2J\n"), "x.yml:1: not text: a control character");
  EXPECT_EQ(problem("a:\t1\r\nb: 2\r\n"), "accepted");
}

TEST(ConfigYaml, RefusesMoreThanOneMebibyte) {
  EXPECT_EQ(problem(std::string(1 << 20, '#')), "accepted");
  EXPECT_EQ(problem(std::string((1 << 20) + 1, '#')), "x.yml:1: longer than 1 MiB");
}

TEST(ConfigYaml, RefusesAnchorsAliasesAndTags) {
  EXPECT_EQ(problem("a: &x 1\nb: *x\n"), "x.yml:1: anchors are not allowed");
  EXPECT_EQ(problem("a: &x [1]\n"), "x.yml:1: anchors are not allowed");
  EXPECT_EQ(problem("a: 1\n&x b: 1\n"), "x.yml:2: anchors are not allowed");
  EXPECT_EQ(problem("a:\n  <<: *x\n").substr(0, 9), "x.yml:2: ");
  EXPECT_EQ(problem("a: !!str 1\n"), "x.yml:1: tags are not allowed");
  EXPECT_EQ(problem("a: !custom {}\n"), "x.yml:1: tags are not allowed");
}

TEST(ConfigYaml, RefusesKeysThatAreNotText) {
  const std::string no_key = "expected a key, found a list or a section (unclosed bracket?)";
  EXPECT_EQ(problem("a: 1\n[b]: 1\n"), "x.yml:2: " + no_key);
  EXPECT_EQ(problem("? {b: 1}\n: 1\n"), "x.yml:1: " + no_key);
  EXPECT_EQ(problem("a: [[[\n"), "x.yml:1: " + no_key);
  EXPECT_EQ(problem("~: 1\n"), "x.yml:1: a key is missing");
  EXPECT_EQ(problem(": 1\n"), "x.yml:1: a key is missing");
}

TEST(ConfigYaml, RefusesWhatFollowsTheDocument) {
  EXPECT_EQ(problem("a: 1\n---\nb: 1\n"), "x.yml:3: there is text after the end of the document");
  EXPECT_EQ(problem("{a: 1} b\n"), "x.yml:1: there is text after the end of the document");
  EXPECT_EQ(problem("- a\nb: 1\n"), "x.yml:2: there is text after the end of the document");
  EXPECT_EQ(problem("a: 1\n...\n"), "accepted");
  EXPECT_EQ(problem("a: 1\n...\n# the end\n"), "accepted");
}

TEST(ConfigYaml, BoundsDepth) {
  EXPECT_EQ(problem(repeated("[", 16) + repeated("]", 16)), "accepted");
  EXPECT_EQ(problem(repeated("[", 17) + repeated("]", 17)), "x.yml:1: nested deeper than 16 levels");
  for (const char* unit : {"[", "{", "- ", "? ", "[a, ", "{a: ", "[{", "- ? ", "[\n", "{a: [b, "}) {
    EXPECT_EQ(problem(repeated(unit, 20'000)).substr(0, 6), "x.yml:") << unit;
  }
}

TEST(ConfigYaml, BoundsTheNumberOfValues) {
  EXPECT_EQ(problem("a: [" + repeated("1, ", 9'990) + "1]\n"), "accepted");
  EXPECT_EQ(problem("a: [" + repeated("1,\n ", 20'000) + "1]\n"), "x.yml:9998: more than 10000 values");
  EXPECT_EQ(problem(repeated("-\n", 100'000)), "x.yml:10001: more than 10000 values");
}

}  // namespace
}  // namespace rdma_exporter::config
