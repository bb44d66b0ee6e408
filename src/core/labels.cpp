// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/labels.h"

#include <algorithm>

#include "core/text/escape.h"

namespace rdma_exporter::core {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '\\' && c != '"'; }

void append_escaped(std::string& out, std::string_view value) {
  if (std::all_of(value.begin(), value.end(), is_plain)) {  // nearly all
    out += value;
    return;
  }
  std::string repaired;
  append_utf8(repaired, value);
  for (const char c : repaired) {
    if (c == '\\' || c == '"' || c == '\n') out += '\\';
    out += c == '\n' ? 'n' : c;
  }
}

}  // namespace

void append_label(std::string& block, std::string_view name, std::string_view value) {
  if (!block.empty()) block += ',';
  block += name;
  block += "=\"";
  append_escaped(block, value);
  block += '"';
}

std::string render_labels(std::initializer_list<Label> labels) {
  constexpr std::size_t kAround = std::string_view(",=\"\"").size();
  std::size_t size = 0;
  for (const auto& [name, value] : labels) size += name.size() + value.size() + kAround;
  std::string block;
  block.reserve(size);
  for (const auto& [name, value] : labels) append_label(block, name, value);
  return block;
}

SharedText shared_labels(std::initializer_list<Label> labels) { return intern(render_labels(labels)); }

void for_each_label(std::string_view block,
                    const std::function<void(std::string_view name, std::string_view value)>& visit) {
  std::string value;
  while (!block.empty()) {
    const std::size_t equals = block.find('=');
    if (equals == std::string_view::npos) return;  // not a block
    const std::string_view name = block.substr(0, equals);
    std::size_t at = equals + 2;  // behind the quote
    value.clear();
    for (; at < block.size() && block[at] != '"'; ++at) {
      if (block[at] != '\\') {
        value += block[at];
      } else if (++at < block.size()) {
        value += block[at] == 'n' ? '\n' : block[at];
      }
    }
    visit(name, value);
    block.remove_prefix(std::min(block.size(), at + 2));  // the quote and the comma
  }
}

}  // namespace rdma_exporter::core
