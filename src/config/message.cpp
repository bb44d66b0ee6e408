// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/message.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "core/text/escape.h"

namespace rdma_exporter::config {
namespace {

constexpr std::size_t kMaxQuoteBytes = 80;
constexpr std::size_t kMaxTypos = 4;

/// Levenshtein distance: letters to insert, delete or replace.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string in_quotes(std::string_view text) {
  const bool cut = text.size() > kMaxQuoteBytes;
  std::string visible;
  for (const char c : text.substr(0, kMaxQuoteBytes)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
      visible += escape;
    } else {
      visible += c;
    }
  }
  std::string out = "\"";
  core::append_utf8(out, visible);
  return out += cut ? "\"..." : "\"";
}

std::string nearest(std::string_view wrong, std::span<const std::string> known) {
  if (wrong.size() > 2 * kMaxQuoteBytes) return {};  // the distance costs time in proportion to both lengths
  std::size_t best = std::clamp(wrong.size() / 3, std::size_t{1}, kMaxTypos) + 1;
  std::string found;
  for (const std::string& word : known) {
    if (const std::size_t slips = distance(wrong, word); slips < best) {
      best = slips;
      found = word;
    }
  }
  return found;
}

std::string alternatives(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace rdma_exporter::config
