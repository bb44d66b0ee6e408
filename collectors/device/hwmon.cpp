// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/device/hwmon.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "collectors/attr_text.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"

namespace rdma_exporter::collectors {
namespace {

constexpr std::chrono::seconds kInterval{60};
constexpr double kCelsius = 1e-3;  // the files contain millidegrees

core::Result<double> read_celsius(host::HostFs& sysfs, const std::string& path) {
  const auto text = sysfs.read(path);
  const auto value = text ? core::parse_integer(*text) : tl::unexpected(text.error());
  if (!value) return tl::unexpected(value.error());
  return static_cast<double>(*value) * kCelsius;
}

}  // namespace

Temperatures::Temperatures(host::HostFs& sysfs, const std::string& device, core::SharedText labels,
                           const core::MetricDesc& now, const core::MetricDesc& critical)
    : sysfs_(sysfs),
      path_(device + "/hwmon"),
      labels_(std::move(labels)),
      now_(now),
      critical_(critical),
      schedule_(kInterval, path_) {}

void Temperatures::run(core::JobRun& run) {
  if (schedule_.take(run.now())) find_sensors(run);
  for (Sensor& sensor : sensors_) {
    if (sensor.failed) continue;
    const auto celsius = read_celsius(sysfs_, sensor.path + "_input");
    if (!celsius) {
      // Not read again until the next search for sensors, because a failing query is slow.
      sensor.failed = true;
      count_unless_absent(celsius.error(), run);
      continue;
    }
    run.samples().add_stable(now_, *labels_, *celsius, sensor.labels);
    if (sensor.critical) run.samples().add_stable(critical_, *labels_, *sensor.critical, sensor.labels);
  }
}

void Temperatures::find_sensors(core::JobRun& run) {
  sensors_.clear();
  const auto hwmons = sysfs_.list(path_);
  if (!hwmons) return count_unless_absent(hwmons.error(), run);
  for (const std::string& hwmon : *hwmons) {
    const std::string folder = path_ + "/" + hwmon;
    const auto files = sysfs_.list(folder);
    if (!files) count_unless_absent(files.error(), run);
    for (const std::string& file : files.value_or(std::vector<std::string>{}))
      if (file.starts_with("temp") && file.ends_with("_input")) add_sensor(folder, file, run);
  }
}

void Temperatures::add_sensor(const std::string& folder, const std::string& file, core::JobRun& run) {
  if (sensors_.size() >= kMaxSensors) return run.count_dropped("sensors", 1);
  const std::string name = file.substr(0, file.rfind('_'));
  Sensor sensor{folder + "/" + name, {}, {}};
  std::string label(core::trim(attr_text(sysfs_, sensor.path + "_label", run)));
  const auto taken = [&](const std::string& text) {
    const std::string labels = core::render_labels({{"sensor", text}});
    return std::any_of(sensors_.begin(), sensors_.end(), [&](const Sensor& s) { return s.labels == labels; });
  };
  if (label.empty() || taken(label)) label = name;
  if (taken(label)) return;
  sensor.labels = core::render_labels({{"sensor", label}});
  if (const auto critical = read_celsius(sysfs_, sensor.path + "_crit")) sensor.critical = *critical;
  sensors_.push_back(std::move(sensor));
}

}  // namespace rdma_exporter::collectors
