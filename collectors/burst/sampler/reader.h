// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/burst/source.h"
#include "collectors/burst/table.h"
#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::collectors {

/// The clocks of a sampler.
struct BurstTime {
  std::function<BurstClock::time_point()> now = [] { return BurstClock::now(); };
  std::function<std::chrono::system_clock::time_point()> wall = [] {
    return std::chrono::system_clock::now();
  };
  /// CPU time of the calling thread.
  std::function<std::chrono::nanoseconds()> cpu = thread_cpu;

  static std::chrono::nanoseconds thread_cpu();
};

/// When a source that failed is read again: after one second, then two, up to a minute. A failing firmware
/// query is slow and may write to the kernel's log each time.
class BurstPatience {
 public:
  bool worth_reading(BurstClock::time_point now) const { return now >= not_before_; }
  void failed(BurstClock::time_point now);
  void worked() { wait_ = kFirst; }
  BurstClock::time_point next() const { return not_before_; }

  static constexpr std::chrono::seconds kFirst{1};
  static constexpr std::chrono::seconds kMaxWait{60};

 private:
  std::chrono::seconds wait_ = kFirst;
  BurstClock::time_point not_before_{};
};

/// Reads one source of a port. Not thread-safe.
class BurstReader {
 public:
  BurstReader(std::string_view name, BurstTable table)
      : table_(std::move(table)), name_(name), source_(table_.signals) {}
  virtual ~BurstReader() = default;
  BurstReader(const BurstReader&) = delete;
  BurstReader& operator=(const BurstReader&) = delete;

  /// Reads the source and passes the result to source(). May block in the kernel.
  void read(Cadence cadence, const BurstTime& time);

  /// Value of the label `source`.
  std::string_view name() const { return name_; }
  BurstSource& source() { return source_; }

 protected:
  /// Returns the values of the counters given to source().set_counters(), or false if there are none. An
  /// error never means absence.
  virtual core::Result<bool> read_values(std::vector<std::uint64_t>& values) = 0;

  const BurstTable table_;

 private:
  const std::string_view name_;
  BurstSource source_;
  BurstPatience patience_;
  std::vector<std::uint64_t> values_;
};

/// The traffic files of ports/N/counters, read through descriptors that stay open. Each read is a firmware
/// query (drivers/infiniband/core/sysfs.c show_pma_counter), so both directions cost two.
std::unique_ptr<BurstReader> make_port_files_reader(host::Host& host, const host::Device& device,
                                                    std::uint32_t port);

/// One STAT_GET of RDMA netlink; never the files of hw_counters, which may cost a query each. nullptr if the
/// driver is not known to have the sampled counters, or netlink does not know the device.
std::unique_ptr<BurstReader> make_statistics_reader(host::Host& host, const host::Device& device,
                                                    std::uint32_t port);

}  // namespace rdma_exporter::collectors
