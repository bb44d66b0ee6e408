// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/html.h"

#include "core/text/utf8.h"

namespace rdma_exporter::core {

std::string html_text(std::string_view text) {
  std::string repaired;
  append_utf8(repaired, text);
  std::string out;
  for (const char c : repaired) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace rdma_exporter::core
