// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Template of a collector: virtual functions of a device (Documentation/ABI/testing/sysfs-bus-pci,
// sriov_numvfs). Not part of the program: copy it to collectors/PART/NAME.cpp. docs/ARCHITECTURE.md says what
// else a collector needs.
#include <array>
#include <string>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kVirtualFunctions{"rdma_device_virtual_functions",
                                       MetricType::gauge,
                                       "device",
                                       "",
                                       "Virtual functions enabled on the device",
                                       "sysfs class/infiniband/D/device/sriov_numvfs"};

constexpr std::array kFamilies{&kVirtualFunctions};
static_assert(core::all_valid(std::array{kVirtualFunctions}));

/// Reads one device. The engine runs it on a worker thread, with a deadline: no lock, no timeout of its own.
class TemplateJob : public core::Job {
 public:
  // Touches no device: the first read belongs to run(), where it may hang.
  TemplateJob(const Context& context, const DeviceHandle& handle)
      : Job("template", handle.device->name),
        sysfs_(*context.host.sysfs),
        path_(handle.device->path + "/device/sriov_numvfs"),
        labels_(core::render_labels({{"device", handle.device->name}})) {}

  void run(core::JobRun& run) override {
    const auto text = sysfs_.read(path_);
    if (!text) return count_unless_absent(text.error(), run);  // no sample: absent is not 0
    const auto count = core::parse_integer(*text);
    if (!count) return run.count_read_error("parse");
    run.samples().add(kVirtualFunctions, labels_, static_cast<double>(*count));
  }

 private:
  host::HostFs& sysfs_;
  std::string path_;
  std::string labels_;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec template_spec;
const CollectorSpec template_spec{"template", "Virtual functions of devices (sriov_numvfs)", true, families,
                                  make_per_device<TemplateJob>};

}  // namespace rdma_exporter::collectors
