// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/escape.h"

#include <cstddef>

namespace rdma_exporter::core {
namespace {

unsigned char at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool continuation(unsigned char byte, unsigned char low = 0x80, unsigned char high = 0xBF) {
  return byte >= low && byte <= high;
}

// Length of the well-formed sequence at the start of `text`, 0 if there is none (RFC 3629 section 4).
std::size_t sequence_length(std::string_view text) {
  const unsigned char b0 = at(text, 0);
  const unsigned char b1 = at(text, 1);
  if (b0 < 0x80) return 1;
  if (b0 >= 0xC2 && b0 <= 0xDF) return continuation(b1) ? 2 : 0;
  if (b0 >= 0xE0 && b0 <= 0xEF) {
    const unsigned char low = b0 == 0xE0 ? 0xA0 : 0x80;   // no overlong forms
    const unsigned char high = b0 == 0xED ? 0x9F : 0xBF;  // no surrogates
    return continuation(b1, low, high) && continuation(at(text, 2)) ? 3 : 0;
  }
  if (b0 >= 0xF0 && b0 <= 0xF4) {
    const unsigned char low = b0 == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = b0 == 0xF4 ? 0x8F : 0xBF;  // nothing above U+10FFFF
    return continuation(b1, low, high) && continuation(at(text, 2)) && continuation(at(text, 3)) ? 4 : 0;
  }
  return 0;
}

void append_hex(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

}  // namespace

void append_utf8(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      append_hex(out, at(text, 0));
      text.remove_prefix(1);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
}

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
