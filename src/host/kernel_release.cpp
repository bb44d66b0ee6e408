// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/kernel_release.h"

#include <sys/utsname.h>

#include <array>
#include <charconv>
#include <compare>

namespace rdma_exporter::host {
namespace {

struct Release {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const Release&) const = default;
};

// "6.1.135-1" or "6.12.25+deb13" -> its first three numbers; missing ones are 0.
Release parse_release(std::string_view text) {
  std::array<int, 3> numbers{};
  for (int& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return {numbers[0], numbers[1], numbers[2]};
}

// Debian's release ("6.1.0-56-amd64") names an ABI; the source version stands in the version text:
// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-08-02)".
Release source_release(std::string_view release, std::string_view version) {
  constexpr std::string_view kDebian = " Debian ";
  const std::size_t at = version.find(kDebian);
  return parse_release(at == std::string_view::npos ? release : version.substr(at + kDebian.size()));
}

}  // namespace

Kernel running_kernel() {
  utsname kernel{};
  if (::uname(&kernel) != 0) return {};
  return {kernel.release, kernel.version, kernel.machine};
}

// By the sources of Linux 6.1 and 6.12; ionic (6.18) has had it from its first version.
bool lets_go_while_open(Driver driver, std::string_view release, std::string_view version) {
  switch (driver) {
    case Driver::mlx5:
    case Driver::mlx4:
    case Driver::irdma:
    case Driver::hns:
    case Driver::ionic:
      return true;
    case Driver::bnxt_re:
    case Driver::erdma:
    case Driver::mana:
      return source_release(release, version) >= Release{6, 12, 0};
    default:
      return false;
  }
}

bool resource_dumps_safe(std::string_view release, std::string_view version) {
  // First fixed release of each series; a later series has the fix from its start.
  constexpr std::array kFixed{Release{6, 1, 188}, Release{6, 12, 110}, Release{7, 2, 13}};
  constexpr Release kMainline{7, 3, 0};
  const Release kernel = source_release(release, version);
  if (kernel >= kMainline) return true;
  for (const Release& fixed : kFixed)
    if (kernel.major == fixed.major && kernel.minor == fixed.minor) return kernel.patch >= fixed.patch;
  return false;
}

}  // namespace rdma_exporter::host
