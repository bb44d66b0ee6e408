// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/file.h"

#include <algorithm>
#include <utility>

#include "core/text/escape.h"
#include "core/text/regular_file.h"

namespace rdma_exporter::config {
namespace {

bool is_foreign(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7f;
}

bool is_utf8(std::string_view text) {
  std::string checked;
  core::append_utf8(checked, text);
  return checked == text;
}

/// YAML forbids tabs there, but yaml-cpp's messages do not mention them.
bool is_indented_with_tab(std::string_view line) {
  const auto start = std::min(line.find_first_not_of(" \t\r"), line.size());
  return start < line.size() && line[start] != '#' &&
         line.substr(0, start).find('\t') != std::string_view::npos;
}

}  // namespace

std::optional<TextProblem> find_text_problem(std::string_view text) {
  if (text.size() > kMaxFileBytes) return TextProblem{1, "longer than 1 MiB"};
  for (unsigned line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view current = text.substr(0, end);
    if (std::any_of(current.begin(), current.end(), is_foreign))
      return TextProblem{line, "not text: a control character"};
    if (!is_utf8(current)) return TextProblem{line, "not text: not UTF-8"};
    if (is_indented_with_tab(current)) return TextProblem{line, "indented with a tab (use spaces)"};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

core::Result<std::string> read_file(const std::string& name) {
  auto text =
      core::RegularFile::open(name).and_then([](const auto& file) { return file.read(kMaxFileBytes); });
  if (text) return text;
  if (text.error().kind == core::Errc::too_long) return core::config_error(name + ": longer than 1 MiB");
  return core::unreadable(name, text.error());
}

tl::unexpected<core::Error> error_at(std::string_view where, core::Error error) {
  error.context = std::string(where) + ": " + error.context.text();
  return tl::unexpected(std::move(error));
}

}  // namespace rdma_exporter::config
