// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/ethtool_stats.h"

#include <linux/ethtool.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace rdma_exporter::host {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

using core::os_error;

static_assert(EthtoolStats::kNameSize == ETH_GSTRING_LEN);

// The kernel ran into the guard page: it is older than 2025-12 (Debian: before 6.1.162 and 6.12.69), writes
// all it has, and now has more than it stated. Newer kernels compare the count and write nothing.
bool has_grown(const core::Error& error) { return core::is_errno(error, EFAULT); }

}  // namespace

GuardedBuffer::~GuardedBuffer() { release(); }

void GuardedBuffer::release() {
  if (start_ != nullptr) ::munmap(start_, usable_ + page_size());
  start_ = nullptr;
  usable_ = 0;
}

std::span<std::byte> GuardedBuffer::get(std::size_t size) {
  if (start_ == nullptr || size > usable_) {
    release();
    const std::size_t usable = (size / page_size() + 1) * page_size();
    // No access at first, so that the guard page is there from the beginning.
    void* memory = ::mmap(nullptr, usable + page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(memory);
    usable_ = usable;
    if (::mprotect(start_, usable_, PROT_READ | PROT_WRITE) != 0) {
      release();
      throw std::bad_alloc();
    }
  }
  return {start_ + (usable_ - size), size};
}

EthtoolStats::EthtoolStats(Ethtool& ethtool, std::string netdev)
    : ethtool_(ethtool), netdev_(std::move(netdev)) {}

std::uint64_t EthtoolStats::Reading::value(std::size_t index) const {
  std::uint64_t value = 0;
  std::memcpy(&value, values.data() + index * sizeof value, sizeof value);
  return value;
}

std::string_view EthtoolStats::name(std::size_t index) const {
  const std::string_view field = std::string_view(names_).substr(index * kNameSize, kNameSize);
  const std::string_view name = field.substr(0, field.find('\0'));
  return name.substr(0, name.find_last_not_of(' ') + 1);
}

core::Result<std::size_t> EthtoolStats::count() {
  ethtool_sset_info info{};
  std::uint32_t count = 0;
  alignas(ethtool_sset_info) std::array<std::byte, sizeof info + sizeof count> request{};
  info.cmd = ETHTOOL_GSSET_INFO;
  info.sset_mask = std::uint64_t{1} << ETH_SS_STATS;
  std::memcpy(request.data(), &info, sizeof info);
  const auto done = ethtool_.execute(netdev_, request);
  if (!done) return tl::unexpected(done.error());
  std::memcpy(&info, request.data(), sizeof info);
  std::memcpy(&count, request.data() + sizeof info, sizeof count);
  // A request for no names would make the kernel log a warning.
  if (info.sset_mask == 0 || count == 0) return os_error(EOPNOTSUPP);
  if (count > kMaxStatistics) return core::too_long_error();
  return count;
}

core::Result<void> EthtoolStats::refresh_names(GuardedBuffer& buffer) {
  core::Result<void> done = os_error(EAGAIN);
  if (!names_.empty()) done = read_names(buffer, size());
  for (int attempt = 0; attempt < kAttempts && !done && core::is_errno(done.error(), EAGAIN); ++attempt) {
    const auto now = count();
    if (!now) return tl::unexpected(now.error());
    done = read_names(buffer, *now);
  }
  return done;
}

// EAGAIN if their number is not `count`.
core::Result<void> EthtoolStats::read_names(GuardedBuffer& buffer, std::size_t count) {
  ethtool_gstrings header{};
  const std::span<std::byte> answer = buffer.get(sizeof header + count * kNameSize);
  header.cmd = ETHTOOL_GSTRINGS;
  header.string_set = ETH_SS_STATS;
  header.len = static_cast<std::uint32_t>(count);  // not 0: that would switch the kernel's check off
  std::memcpy(answer.data(), &header, sizeof header);
  const auto done = ethtool_.execute(netdev_, answer);
  if (!done) return has_grown(done.error()) ? os_error(EAGAIN) : done;
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.len != count) return os_error(EAGAIN);
  const std::string_view names(reinterpret_cast<const char*>(answer.data()) + sizeof header,
                               count * kNameSize);
  if (names == names_) return {};
  names_ = names;
  ++version_;
  return {};
}

// EAGAIN if their number is not that of the names.
core::Result<std::span<const std::byte>> EthtoolStats::read_values(GuardedBuffer& buffer) {
  ethtool_stats header{};
  const std::span<std::byte> answer = buffer.get(sizeof header + size() * sizeof(std::uint64_t));
  header.cmd = ETHTOOL_GSTATS;
  header.n_stats = static_cast<std::uint32_t>(size());
  std::memcpy(answer.data(), &header, sizeof header);
  const auto done = ethtool_.execute(netdev_, answer);
  if (!done) return has_grown(done.error()) ? os_error(EAGAIN) : tl::unexpected(done.error());
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.n_stats != size()) return os_error(EAGAIN);
  return std::span<const std::byte>(answer).subspan(sizeof header);
}

core::Result<EthtoolStats::Reading> EthtoolStats::read(EthtoolScratch& scratch) {
  const std::uint64_t first = version_;
  const unsigned quiet = std::exchange(quiet_readings_, 0);
  if (names_.empty() || quiet < kTrustedAfter) {
    const auto done = refresh_names(scratch.names);
    if (!done) return tl::unexpected(done.error());
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t before = version_;
    const auto values = read_values(scratch.values);
    if (!values && !core::is_errno(values.error(), EAGAIN)) return tl::unexpected(values.error());
    // The names after these values, which are also those before the values of the next attempt.
    const auto done = refresh_names(scratch.names);
    if (!done) return tl::unexpected(done.error());
    if (!values || version_ != before) continue;
    if (version_ == first) quiet_readings_ = quiet + 1;
    return Reading{*values};
  }
  return os_error(EAGAIN);
}

}  // namespace rdma_exporter::host
