// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as the kernel's answers to the ethtool ioctls, with any errno in between: there are as many
// values as names, names end at NUL or after 32 bytes, and nothing is read that neither the kernel nor we
// have written.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "host/ethtool/ethtool.h"
#include "host/ethtool/ethtool_stats.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

/// Takes its answers from the input, one after the other: a byte that says what kind, a length, the bytes.
class AnyKernel : public host::Ethtool {
 public:
  AnyKernel(const std::uint8_t* data, std::size_t size) : input_(data, size) {}

  core::Result<void> execute(const std::string& /*netdev*/, std::span<std::byte> buffer) override {
    const std::size_t kind = take_byte();
    if (kind % 16 == 15) return core::os_error(kErrors[kind / 16 % std::size(kErrors)]);
    // Mostly behind the header, so that the counts agree and the walk goes on.
    const std::size_t from = std::min<std::size_t>(kind % 4 == 3 ? 0 : kHeaders[kind % 4], buffer.size());
    const std::size_t length = take_byte();
    const auto answer = input_.subspan(0, std::min({input_.size(), length, buffer.size() - from}));
    std::memcpy(buffer.data() + from, answer.data(), answer.size());
    input_ = input_.subspan(answer.size());
    return {};
  }

 private:
  static constexpr int kErrors[] = {EFAULT, ENODEV, EOPNOTSUPP, EIO, EAGAIN};
  static constexpr std::size_t kHeaders[] = {8, 12, 16};

  std::size_t take_byte() {
    if (input_.empty()) return 0;
    const std::size_t byte = input_.front();
    input_ = input_.subspan(1);
    return byte;
  }

  std::span<const std::uint8_t> input_;
};

void check_reading(const host::EthtoolStats& stats, const host::EthtoolStats::Reading& reading) {
  check(stats.size() > 0, "a reading has something");
  check(reading.values.size() == stats.size() * sizeof(std::uint64_t), "as many values as names");
  for (std::size_t i = 0; i < stats.size(); ++i) {
    [[maybe_unused]] const volatile std::uint64_t value = reading.value(i);  // the sanitizer looks
    const std::string_view name = stats.name(i);
    check(name.size() <= host::EthtoolStats::kNameSize, "a name is 32 bytes at most", name);
    check(name.find('\0') == std::string_view::npos, "the name ends at NUL", name);
    check(name.empty() || name.back() != ' ', "the name does not end with a blank", name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  AnyKernel kernel(data, size);
  static host::EthtoolScratch scratch;  // kept from reading to reading, as by a worker
  host::EthtoolStats stats(kernel, "eth0");
  for (int i = 0; i < 4; ++i)
    if (const auto reading = stats.read(scratch)) check_reading(stats, *reading);
  if (const auto info = host::driver_info(kernel, "eth0"))
    check(info->driver.size() <= 32 && info->driver.find('\0') == std::string::npos, "a field of 32 bytes");
  return 0;
}
