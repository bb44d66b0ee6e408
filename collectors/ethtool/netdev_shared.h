// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// State that the collectors of one network interface share.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/metric.h"
#include "core/sample_batch.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// A value from the driver statistics for a family that ethtool's standard groups fill, too.
struct DriverTwin {
  const core::MetricDesc* family;
  std::string own;  ///< labels behind those of the interface
  std::uint64_t value;
};

/// Shared by the jobs of one registration of an interface. Any thread may call it.
class NetdevShared {
 public:
  /// Stores the values of the last reading of the driver statistics; none if it failed.
  void set_twins(std::vector<DriverTwin> twins);
  std::shared_ptr<const std::vector<DriverTwin>> twins() const;
  /// Waits for the first set_twins(), so that the first page has the values.
  void wait_for_twins(std::chrono::milliseconds longest);

  /// Bit N: priority flow control is on for priority N. Empty: not known yet.
  void set_pfc(std::optional<std::uint8_t> enabled);
  std::optional<std::uint8_t> pfc() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable set_;
  bool is_set_ = false;
  std::shared_ptr<const std::vector<DriverTwin>> twins_ = std::make_shared<std::vector<DriverTwin>>();
  std::optional<std::uint8_t> pfc_;
};

/// The NetdevShared of each interface, for as long as a job holds it. Any thread may call it.
class NetdevSharing {
 public:
  std::shared_ptr<NetdevShared> of(const host::FileId& netdev);

 private:
  std::mutex mutex_;
  std::vector<std::pair<host::FileId, std::weak_ptr<NetdevShared>>> shared_;
};

/// Whether ethtool's standard groups also provide the family. Only one of the two may be served; the standard
/// counter is preferred because it means the same for every driver.
bool has_standard_twin(const core::MetricDesc& family);

}  // namespace rdma_exporter::collectors
