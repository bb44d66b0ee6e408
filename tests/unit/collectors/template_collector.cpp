// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Templates of two collectors, one that reads each device and one that reads the host as a whole: virtual
// functions of a device (Documentation/ABI/testing/sysfs-bus-pci, sriov_numvfs), and the free entropy of the
// kernel (Documentation/admin-guide/sysctl/kernel.rst, random). Not part of the program: copy the half that
// fits to collectors/PART/NAME.cpp. docs/ARCHITECTURE.md says what else a collector needs.
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
                                       "sysfs class/infiniband/D/device/sriov_numvfs",
                                       core::MetricSet::full};  // see "A metric" in docs/ARCHITECTURE.md

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
const CollectorSpec template_spec{"template", "Virtual functions of devices", "`device/sriov_numvfs`", true,
                                  families,   make_per_device<TemplateJob>};

// --- the host as a whole

namespace {

constexpr MetricDesc kEntropy{"rdma_host_entropy_bits",
                              MetricType::gauge,
                              "",
                              "bits",
                              "Entropy that the kernel has at its disposal",
                              "procfs sys/kernel/random/entropy_avail",
                              core::MetricSet::full};

constexpr std::array kHostFamilies{&kEntropy};
static_assert(core::all_valid(std::array{kEntropy}));

/// One job, whatever devices the host has.
class TemplateHostJob : public core::Job {
 public:
  explicit TemplateHostJob(const Context& context)
      : Job("template_host", ""), procfs_(*context.host.procfs) {}

  void run(core::JobRun& run) override {
    const auto text = procfs_.read("sys/kernel/random/entropy_avail");
    if (!text) return count_unless_absent(text.error(), run);
    const auto bits = core::parse_integer(*text);
    if (!bits) return run.count_read_error("parse");
    run.samples().add(kEntropy, {}, static_cast<double>(*bits));
  }

 private:
  host::HostFs& procfs_;
};

std::span<const MetricDesc* const> host_families() { return kHostFamilies; }

}  // namespace

extern const CollectorSpec template_host_spec;
const CollectorSpec template_host_spec{
    "template_host", "Entropy of the kernel",       "`/proc/sys/kernel/random/entropy_avail`", true,
    host_families,   make_for_host<TemplateHostJob>};

}  // namespace rdma_exporter::collectors
