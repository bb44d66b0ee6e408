// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/labels.h"

#include "core/utf8.h"

namespace rdma_exporter::core {
namespace {

void append_escaped(std::string& out, std::string_view value) {
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
  std::string block;
  for (const auto& [name, value] : labels) append_label(block, name, value);
  return block;
}

}  // namespace rdma_exporter::core
