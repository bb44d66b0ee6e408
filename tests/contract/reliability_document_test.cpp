// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: the tests that docs/RELIABILITY.md names exist.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace rdma_exporter::test {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Python's `def test_x(` or GoogleTest's `TEST_F(Suite, Name)`.
bool has_test(const std::string& text, const std::string& name) {
  return text.find("def " + name + "(") != std::string::npos ||
         text.find(", " + name + ")") != std::string::npos;
}

TEST(ReliabilityDocument, NamesATestForEachFault) {
  const std::string document = text_of(SOURCE_DIR "/docs/RELIABILITY.md");
  const std::regex row(R"(\n\| [^|\n]+ \| [^|\n]+ \| \[`(\w+)`\]\(\.\./([\w./]+)\) \|)");
  std::size_t rows = 0;
  for (std::sregex_iterator it(document.begin(), document.end(), row), end; it != end; ++it, ++rows) {
    const std::string name = (*it)[1];
    const std::string path = (*it)[2];
    EXPECT_TRUE(has_test(text_of(SOURCE_DIR "/" + path), name))
        << "no test " << name << " in " << path
        << ": name the test that shows this fault, or take the row out";
  }
  EXPECT_GE(rows, 60U);
}

}  // namespace
}  // namespace rdma_exporter::test
