// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/number.h"

#include <array>
#include <charconv>
#include <cmath>

namespace rdma_exporter::core {
namespace {

template <typename T>
void append_chars(std::string& out, T value) {
  std::array<char, 32> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills what is used
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end.ptr);
}

}  // namespace

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    append_chars(out, value);
  }
}

void append_number(std::string& out, std::uint64_t value) { append_chars(out, value); }

}  // namespace rdma_exporter::core
