// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Template of a collector: virtual functions of a device (Documentation/ABI/testing/sysfs-bus-pci,
// sriov_numvfs). Not part of the program: copy it to collectors/PART/NAME.cpp. docs/ARCHITECTURE.md says what
// else a collector needs.
#include <array>
#include <memory>
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
  TemplateJob(host::HostFs& sysfs, const host::Device& device)
      : Job("template", device.name),
        sysfs_(sysfs),
        path_(device.path + "/device/sriov_numvfs"),
        labels_(core::render_labels({{"device", device.name}})) {}

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

class TemplateCollector : public Collector {
 public:
  explicit TemplateCollector(const Context& context) : context_(context) {}

  // Touches no device: the first read is the job's, where it may hang.
  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    return std::make_shared<TemplateJob>(*context_.host.sysfs, *handle.device);
  }

 private:
  const Context& context_;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec template_spec;
const CollectorSpec template_spec{"template", "Virtual functions of devices (sriov_numvfs)", true, families,
                                  [](const Context& context) -> std::unique_ptr<Collector> {
                                    return std::make_unique<TemplateCollector>(context);
                                  }};

}  // namespace rdma_exporter::collectors
