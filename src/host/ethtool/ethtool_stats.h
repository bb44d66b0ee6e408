// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "host/ethtool/ethtool.h"

namespace rdma_exporter::host {

/// Memory that ends at a page without access: a kernel that writes more than it was asked for gets EFAULT
/// there instead of overwriting the heap. Keeps its memory between uses. One thread at a time.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// Exactly `size` bytes that end at the guard page, with whatever the last user left in them; aligned to
  /// the largest power of two that divides `size`. Invalidates the span that it returned before. Throws
  /// std::bad_alloc.
  std::span<std::byte> get(std::size_t size);

 private:
  void release();

  std::byte* start_ = nullptr;
  std::size_t usable_ = 0;  ///< bytes before the guard page
};

/// Where the kernel writes its answers. A worker needs one, whatever the number of interfaces.
struct EthtoolScratch {
  GuardedBuffer names;
  GuardedBuffer values;
};

/// Driver statistics of one network interface, by the ioctls ETHTOOL_GSSET_INFO, GSTRINGS and GSTATS
/// (net/ethtool/ioctl.c). One thread at a time.
///
/// Values come without names and names without values, and a driver may change both between two ioctls. mlx5
/// has pause statistics of a priority only while PFC is on for it: moving PFC to another priority renames
/// statistics and leaves their number as it was. Therefore the names are read after every read of the values,
/// and the values are used only if the names are the same as before, byte for byte. "Before" depends on
/// trust: names that stayed the same for many readings are taken from the last reading; otherwise they are
/// also read right before the values. Drivers generate the names without asking firmware.
///
/// Two cases remain undetected: after kTrustedAfter readings without a change, a change that is reversed
/// between the values and the names; and two changes in two such moments of one reading. The kernel offers
/// nothing that would show them.
class EthtoolStats {
 public:
  EthtoolStats(Ethtool& ethtool, std::string netdev);

  struct Reading {
    std::span<const std::byte> values;  ///< in the scratch; see value()
    std::uint64_t value(std::size_t index) const;
  };

  /// ENODEV: no such interface here. EOPNOTSUPP: its driver has no statistics. EAGAIN: the names changed
  /// during each of kAttempts attempts. Errc::too_long: more than kMaxStatistics.
  core::Result<Reading> read(EthtoolScratch& scratch);

  /// Changes with the names.
  std::uint64_t version() const { return version_; }
  std::size_t size() const { return names_.size() / kNameSize; }
  /// Up to the NUL, if any, without trailing blanks (cxgb4 pads with them). May be empty.
  std::string_view name(std::size_t index) const;

  static constexpr std::size_t kNameSize = 32;  ///< ETH_GSTRING_LEN
  static constexpr int kAttempts = 3;
  /// Readings with the same names after which they are trusted.
  static constexpr unsigned kTrustedAfter = 30;
  /// mlx5 with 128 channels and 8 traffic classes has a third of that.
  static constexpr std::size_t kMaxStatistics = 131'072;

 private:
  core::Result<std::size_t> count();
  core::Result<void> refresh_names(GuardedBuffer& buffer);
  core::Result<void> read_names(GuardedBuffer& buffer, std::size_t count);
  core::Result<std::span<const std::byte>> read_values(GuardedBuffer& buffer);

  Ethtool& ethtool_;
  const std::string netdev_;
  std::string names_;  ///< as the kernel gave them, kNameSize each
  std::uint64_t version_ = 0;
  unsigned quiet_readings_ = 0;  ///< in a row, without a change of names
};

}  // namespace rdma_exporter::host
