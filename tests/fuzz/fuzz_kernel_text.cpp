// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as the text of a sysfs file: each parser returns a value in its documented range, or a parse
// error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/text/kernel_text.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

template <typename T>
bool is_parse_error(const core::Result<T>& result) {
  return result.error().kind == core::Errc::parse;
}

void check_counter(std::string_view text) {
  const auto value = core::parse_counter(text);
  if (!value) return check(is_parse_error(value), "counter: a parse error", text);
  if (!*value) return check(core::trim(text).starts_with("N/A"), "counter: only N/A is no value", text);
  const auto again = core::parse_counter(std::to_string(**value) + "\n");
  check(again && *again == *value, "counter: the number printed is the number read", text);
}

void check_integers(std::string_view text) {
  const auto integer = core::parse_integer(text);
  if (integer) {
    const auto again = core::parse_integer(std::to_string(*integer));
    check(again && *again == *integer, "integer: the number printed is the number read", text);
  }
  const auto number = core::parse_enum(text);
  check(!number || core::trim(text).starts_with(std::to_string(*number)) || core::trim(text).starts_with('0'),
        "enum: the number leads", text);
  const auto hex = core::parse_hex(text);
  check(!hex || core::trim(text).starts_with("0x"), "hex: only with 0x", text);
}

void check_traffic_class(std::string_view text) {
  const auto traffic_class = core::parse_global_traffic_class(text);
  if (!traffic_class) return check(is_parse_error(traffic_class), "traffic class: a parse error", text);
  if (*traffic_class) check(**traffic_class <= 255, "traffic class: one octet", text);
}

void check_rate(std::string_view text) {
  const auto rate = core::parse_rate(text);
  if (!rate) return check(is_parse_error(rate), "rate: a parse error", text);
  check(std::isfinite(rate->bytes_per_second) && rate->bytes_per_second >= 0, "rate: finite, not negative",
        text);
  check(rate->lanes >= 1 && rate->lanes <= 12, "rate: lanes of the standard", text);
}

void check_pci(std::string_view text) {
  const auto speed = core::parse_pci_speed(text);
  if (speed && *speed) check(std::isfinite(**speed) && **speed >= 0, "PCI speed: finite, not negative", text);
  const auto width = core::parse_pci_width(text);
  if (width && *width) check(**width > 0 && **width < 255, "PCI width: a number of lanes", text);
}

void check_number_list(std::string_view text) {
  const auto list = core::parse_number_list(text);
  if (!list) return check(is_parse_error(list), "number list: a parse error", text);
  check(list->intersects(*list) != list->empty(), "number list: it meets itself unless it is empty", text);
  check(list->count() <= std::uint64_t{1} << 32U, "number list: no number twice", text);
}

void check_aer_counters(std::string_view text) {
  const auto counters = core::parse_aer_counters(text);
  if (!counters) return check(is_parse_error(counters), "AER counters: a parse error", text);
  check(counters->errors.size() <= text.size() / 2, "AER counters: at most one a line", text);
  for (const core::AerCount& count : counters->errors)
    check(!count.error.empty(), "AER counters: each has a name", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view trimmed = core::trim(text);
  check(trimmed.size() <= size && core::trim(trimmed) == trimmed, "trim: twice is once", text);
  check_counter(text);
  check_integers(text);
  check_rate(text);
  check_traffic_class(text);
  check_pci(text);
  check_number_list(text);
  check_aer_counters(text);
  check(!core::is_zero_gid(text) || text.find_first_of("123456789abcdef") == std::string_view::npos,
        "zero GID: without another digit", text);
  return 0;
}
