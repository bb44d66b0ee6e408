// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/parse.h"
#include "config/print.h"

// Any text is either refused with one line, or gives a configuration that printing and reading leave
// unchanged.
namespace {

using rdma_exporter::config::CollectorChoice;

constexpr std::array kCollectors{CollectorChoice{"device", true, ""},
                                 CollectorChoice{"hw_counters", false, ""}};

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = rdma_exporter::config::load(text, "x.yml", kCollectors);
  if (!config) {
    const std::string& message = config.error().context.text();
    if (!message.starts_with("x.yml:") || message.find('\n') != std::string::npos)
      fail("bad message", message);
    return 0;
  }
  const std::string printed = rdma_exporter::config::print(*config);
  const auto again = rdma_exporter::config::load(printed, "again.yml", kCollectors);
  if (!again) fail(again.error().context.text().c_str(), printed);
  if (*again != *config) fail("printing changes it", printed);
  return 0;
}
