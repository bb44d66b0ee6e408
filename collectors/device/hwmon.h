// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/intern.h"
#include "core/job.h"
#include "core/metric.h"
#include "host/fs/host_fs.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

/// The temperature sensors that a driver registers for its device (Documentation/hwmon/sysfs-interface.rst).
/// On mlx5, reading one accesses a firmware register. One thread at a time.
class Temperatures {
 public:
  /// `device`: path below sysfs; it has a directory hwmon if there are sensors. `labels`: those of the owner;
  /// the families add the label `sensor`.
  Temperatures(host::HostFs& sysfs, const std::string& device, core::SharedText labels,
               const core::MetricDesc& now, const core::MetricDesc& critical);

  void run(core::JobRun& run);

  /// More than any adapter has.
  static constexpr std::size_t kMaxSensors = 64;

 private:
  struct Sensor {
    std::string path;    ///< "class/net/eth0/device/hwmon/hwmon3/temp1"
    std::string labels;  ///< `sensor="asic"`
    std::optional<double> critical;
    bool failed = false;
  };
  void find_sensors(core::JobRun& run);
  void add_sensor(const std::string& folder, const std::string& file, core::JobRun& run);

  host::HostFs& sysfs_;
  std::string path_;
  const core::SharedText labels_;
  const core::MetricDesc& now_;
  const core::MetricDesc& critical_;
  task::Schedule schedule_;
  std::vector<Sensor> sensors_;
};

}  // namespace rdma_exporter::collectors
