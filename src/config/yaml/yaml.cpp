// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>
#include <utility>

#include "config/yaml/file.h"

namespace rdma_exporter::config {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxValues = 10'000;
constexpr std::string_view kQuotedTag = "!";  // yaml-cpp's tag for quoted and block scalars
constexpr std::string_view kPlainTag = "?";

/// Thrown through the parser to stop it at the first unacceptable construct.
struct Refused {
  unsigned line;
  std::string problem;
};

unsigned line_of(const YAML::Mark& mark) { return mark.line < 0 ? 1 : static_cast<unsigned>(mark.line) + 1; }

/// Builds the tree from the parser's events. yaml-cpp recurses and reports each level before the next one, so
/// the limit on depth here also limits its stack.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases are not allowed"); }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    refuse(mark, "anchors are not allowed");
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (takes_key()) refuse(mark, "a key is missing");
    add(make(YamlNode::Kind::empty, mark, {}, anchor));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(YamlNode::Kind::scalar, mark, tag, anchor);
    if (takes_key()) {
      open_.back().key = value;
      open_.back().key_line = node.line;
      open_.back().has_key = true;
      return;
    }
    node.text = value;
    node.is_quoted = tag == kQuotedTag;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::list, mark, tag, anchor), mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::section, mark, tag, anchor), mark);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or section that has not ended yet, and the key that waits for its value.
  struct Level {
    YamlNode node;
    std::string key;
    unsigned key_line = 0;
    bool has_key = false;
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string problem) {
    throw Refused{line_of(mark), std::move(problem)};
  }

  bool takes_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::section && !open_.back().has_key;
  }

  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "anchors are not allowed");
    if (!tag.empty() && tag != kQuotedTag && tag != kPlainTag) refuse(mark, "tags are not allowed");
    if (++values_ > kMaxValues) refuse(mark, "more than " + std::to_string(kMaxValues) + " values");
    YamlNode node;
    node.kind = kind;
    node.line = line_of(mark);
    return node;
  }

  void open(YamlNode node, const YAML::Mark& mark) {
    if (takes_key()) refuse(mark, "expected a key, found a list or a section (unclosed bracket?)");
    if (open_.size() == kMaxDepth)
      refuse(mark, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    open_.push_back({std::move(node), {}, 0, false});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& parent = open_.back();
    node.key = std::exchange(parent.key, {});
    node.key_line = parent.key_line;
    parent.has_key = false;
    parent.node.children.push_back(std::move(node));
  }

  YamlNode root_;
  std::vector<Level> open_;
  std::size_t values_ = 0;
};

/// The text followed by an end of document. At the end of the input, yaml-cpp 0.7 treats an open quote as
/// closed, including every key that it swallowed; it rejects an end of document inside a quote.
std::string ended(std::string_view text) {
  std::string whole(text);
  if (!whole.empty() && whole.back() != '\n') whole += '\n';
  return whole += "...\n";
}

std::string explain(const std::string& problem) {
  if (problem == YAML::ErrorMsg::DOC_IN_SCALAR) return "a quote is still open here";
  if (problem == YAML::ErrorMsg::END_OF_MAP || problem == YAML::ErrorMsg::END_OF_SEQ)
    return "the indentation of this line matches none of the lines above";
  if (problem == YAML::ErrorMsg::END_OF_SEQ_FLOW) return "a [ is never closed";
  if (problem == YAML::ErrorMsg::END_OF_MAP_FLOW) return "a { is never closed";
  if (problem == YAML::ErrorMsg::ALIAS_NOT_FOUND) return "a value that starts with * needs quotes";
  return problem;
}

YamlNode build(std::string_view text) {
  std::istringstream stream{ended(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder;
  parser.HandleNextDocument(builder);
  YamlNode root = builder.take_root();
  TreeBuilder rest;
  if (parser.HandleNextDocument(rest)) {
    throw Refused{rest.take_root().line, "there is text after the end of the document"};
  }
  return root;
}

}  // namespace

core::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name) {
  const auto error_at = [file_name](unsigned line, const std::string& problem) {
    return yaml_error(file_name, line, problem);
  };
  if (const auto problem = find_text_problem(text)) return error_at(problem->line, problem->what);
  try {
    return build(text);
  } catch (const Refused& refused) {
    return error_at(refused.line, refused.problem);
  } catch (const YAML::Exception& error) {
    return error_at(line_of(error.mark), "not valid YAML: " + explain(error.msg));
  } catch (const std::exception& error) {
    return error_at(1, std::string("not valid YAML: ") + error.what());
  }
}

}  // namespace rdma_exporter::config
