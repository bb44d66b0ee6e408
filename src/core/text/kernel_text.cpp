// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/kernel_text.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace rdma_exporter::core {
namespace {

// Parses the number at the start of `text` and removes it.
template <typename T, typename... Base>
std::optional<T> take_number(std::string_view& text, Base... base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// The whole text is one number.
template <typename T, typename... Base>
Result<T> whole_number(std::string_view text, Base... base) {
  const std::optional<T> value = take_number<T>(text, base...);
  if (!value || !text.empty()) return parse_error();
  return *value;
}

// Nearly all that a scrape reads: digits that fit into 64 bits whatever they are, and a newline.
std::optional<std::uint64_t> plain_number(std::string_view text) {
  constexpr std::size_t kMaxDigits = 19;
  if (text.size() < 2 || text.size() > kMaxDigits + 1 || text.back() != '\n') return std::nullopt;
  text.remove_suffix(1);
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool legal_lanes(std::uint32_t lanes) {
  return lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12;
}

// A speed in units of 10^9 per second with an optional fraction. No exponent, no sign: the kernel prints
// neither. Its own variables are 32 bits wide; three hundred digits would be infinite once they are scaled.
std::optional<double> take_giga(std::string_view& text) {
  constexpr double kMax = 1e9;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const std::optional<double> value = take_number<double>(text, std::chars_format::fixed);
  return value && *value <= kMax ? value : std::nullopt;
}

constexpr std::string_view kAerTotal = "TOTAL_ERR_";

Result<AerCount> parse_aer_line(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return parse_error();
  const auto count = parse_counter(line.substr(blank + 1));
  if (!count || !*count) return parse_error();
  return AerCount{line.substr(0, blank), **count};
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\0'; };
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  return text;
}

Result<std::optional<std::uint64_t>> parse_counter(std::string_view text) {
  if (const auto plain = plain_number(text)) return plain;
  text = trim(text);
  if (text.starts_with("N/A")) return std::nullopt;
  const Result<std::uint64_t> value = whole_number<std::uint64_t>(text);
  if (!value) return tl::unexpected(value.error());
  return *value;
}

Result<std::int64_t> parse_integer(std::string_view text) { return whole_number<std::int64_t>(trim(text)); }

Result<std::uint32_t> parse_enum(std::string_view text) {
  text = trim(text);
  const std::optional<std::uint32_t> value = take_number<std::uint32_t>(text);
  if (!value || !(text.empty() || text.front() == ':')) return parse_error();
  return *value;
}

Result<std::uint32_t> parse_hex(std::string_view text) {
  text = trim(text);
  if (!take(text, "0x")) return parse_error();
  return whole_number<std::uint32_t>(text, 16);
}

Result<LinkRate> parse_rate(std::string_view text) {
  text = trim(text);
  const std::optional<double> gigabits = take_giga(text);
  if (!gigabits || !take(text, " Gb/sec (")) return parse_error();
  const std::optional<std::uint32_t> lanes = take_number<std::uint32_t>(text);
  if (!lanes || !legal_lanes(*lanes) || !take(text, "X") || !text.ends_with(')')) return parse_error();
  return LinkRate{*gigabits * 1e9 / 8, *lanes};
}

Result<std::optional<double>> parse_pci_speed(std::string_view text) {
  text = trim(text);
  if (text.starts_with("Unknown")) return std::nullopt;
  const std::optional<double> giga = take_giga(text);
  if (!giga || !text.starts_with(" GT/s")) return parse_error();
  return *giga * 1e9;
}

Result<std::optional<std::uint32_t>> parse_pci_width(std::string_view text) {
  const Result<std::uint32_t> lanes = whole_number<std::uint32_t>(trim(text));
  if (!lanes) return tl::unexpected(lanes.error());
  if (*lanes == 0 || *lanes >= 255) return std::nullopt;
  return *lanes;
}

Result<std::optional<std::uint32_t>> parse_global_traffic_class(std::string_view text) {
  constexpr std::uint32_t kMax = 255;  // an octet of the IP header
  if (!take(text, "Global tclass=")) return std::nullopt;
  const auto value = whole_number<std::uint32_t>(trim(text.substr(0, text.find('\n'))));
  if (!value || *value > kMax) return parse_error();
  return *value;
}

bool is_zero_gid(std::string_view text) {
  return trim(text).find_first_not_of("0:") == std::string_view::npos;
}

Result<NumberList> parse_number_list(std::string_view text) {
  text = trim(text);
  NumberList list;
  while (!text.empty()) {
    const auto first = take_number<std::uint32_t>(text);
    const auto last = first && take(text, "-") ? take_number<std::uint32_t>(text) : first;
    const bool ascending =
        last && *first <= *last && (list.ranges_.empty() || *first > list.ranges_.back().second);
    if (!ascending) return parse_error();
    list.ranges_.emplace_back(*first, *last);
    if (!text.empty() && (!take(text, ",") || text.empty())) return parse_error();
  }
  return list;
}

Result<AerCounters> parse_aer_counters(std::string_view text) {
  AerCounters counters;
  text = trim(text);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto line = parse_aer_line(text.substr(0, end));
    if (!line) return tl::unexpected(line.error());
    if (line->error.starts_with(kAerTotal))
      counters.messages = line->count;
    else
      counters.errors.push_back(*line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return counters;
}

}  // namespace rdma_exporter::core
