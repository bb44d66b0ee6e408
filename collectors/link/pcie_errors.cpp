// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector pcie_errors: errors counted by PCIe's Advanced Error Reporting at both ends of the adapter's
// link, and in the root port. The counts are in kernel memory: reading them needs no privilege and does not
// access the adapter.
//
// The end that receives a damaged packet counts it, so both ends are read. A virtual function or sub-function
// has no link of its own; the device of its physical function has it.
#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "core/intern.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "host/fs/attr_files.h"
#include "host/topology/pci.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

// clang-format off
constexpr MetricDesc kMessages{
    "rdma_device_pcie_error_messages_total", MetricType::counter, "device,end,pci_address,level", "messages",
    "PCIe error messages (AER) of one end of the adapter's link. end=\"function\": the adapter; port: the "
    "port above it, which all functions of a card share. level=\"correctable\": repaired by retransmission, "
    "near 0 on a good link; nonfatal: a transaction was lost; fatal: the link is unreliable. The kernel "
    "does not count fatal errors at the adapter, because it reads nothing over a dead link: see "
    "rdma_device_pcie_root_error_messages_total",
    "sysfs aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal"};
constexpr MetricDesc kErrors{
    "rdma_device_pcie_errors_total", MetricType::counter, "device,end,pci_address,level,error", "errors",
    "PCIe errors (AER) by kind, under the kernel's names (RxErr, BadTLP, BadDLLP, Timeout, CmpltTO, ...). "
    "Each kind appears with its first error. One message may report several errors",
    "sysfs aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal"};
constexpr MetricDesc kRootMessages{
    "rdma_device_pcie_root_error_messages_total", MetricType::counter, "device,pci_address,level", "messages",
    "PCIe error messages (AER) received by the root port above the adapter, from everything below it and "
    "from itself. Other devices may share the root port",
    "sysfs aer_rootport_total_err_cor, aer_rootport_total_err_nonfatal, aer_rootport_total_err_fatal"};
constexpr MetricDesc kNative{
    "rdma_device_pcie_aer_native", MetricType::gauge, "device", "",
    "Whether the kernel handles PCIe errors of the adapter's root port: 1 if so; 0 if the firmware does or "
    "nobody does, and then error counters of 0 prove nothing",
    "sysfs bus/pci_express/drivers/aer"};
// clang-format on

constexpr std::array kFamilies{&kMessages, &kErrors, &kRootMessages, &kNative};
static_assert(core::all_valid(std::array{kMessages, kErrors, kRootMessages, kNative}));

struct Level {
  const char* label;
  const char* file;
  const char* root_file;
};
constexpr std::array kLevels{
    Level{R"(level="correctable")", "aer_dev_correctable", "aer_rootport_total_err_cor"},
    Level{R"(level="nonfatal")", "aer_dev_nonfatal", "aer_rootport_total_err_nonfatal"},
    Level{R"(level="fatal")", "aer_dev_fatal", "aer_rootport_total_err_fatal"}};

// A line with a short name and a number for each bit of a 32-bit register, and one for the total.
using Buffer = std::array<char, 4096>;

constexpr std::chrono::seconds kFactsInterval{60};
constexpr const char* kAerDriver = "bus/pci_express/drivers/aer";

std::string address_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// An auxiliary device, "mlx5_core.sf.2", below its function.
bool is_sub_function(const std::string& path) { return address_of(path).find(".sf.") != std::string::npos; }

// One end of the adapter's link.
class LinkEnd {
 public:
  LinkEnd(host::Host& host, const std::string& path, std::string_view end, std::string_view device)
      : labels_(core::render_labels({{"device", device}, {"end", end}, {"pci_address", address_of(path)}})),
        files_(*host.sysfs, path, host.open_files) {}

  /// False if it has no such counters.
  bool add(Buffer& buffer, core::JobRun& run) {
    if (const auto listed = files_.refresh(); !listed) {
      count_unless_absent(listed.error(), run);
      return false;
    }
    bool any = false;
    for (std::size_t level = 0; level < kLevels.size(); ++level) any = add_level(level, buffer, run) || any;
    for (const Kind& kind : kinds_)
      if (contents_[kind.level]) run.samples().add_stable(kErrors, labels_, kind.count, kind.labels);
    return any;
  }

 private:
  /// The text of a file, and how many messages it tells of.
  struct Content {
    std::string text;
    std::optional<std::uint64_t> messages;
    bool operator==(const Content&) const = default;
  };
  /// A kind of errors that have occurred.
  struct Kind {
    std::size_t level;
    std::string name;
    std::string labels;
    std::uint64_t count;
  };

  // The text of a healthy link stays the same for months, so it is parsed only when it has changed.
  bool add_level(std::size_t level, Buffer& buffer, core::JobRun& run) {
    std::shared_ptr<const Content>& content = contents_[level];
    const auto text = files_.read(kLevels[level].file, buffer);
    if (const auto known = text ? learn(level, *text) : tl::unexpected(text.error()); !known) {
      content.reset();
      count_unless_absent(known.error(), run);
      return false;
    }
    if (content->messages)
      run.samples().add_stable(kMessages, labels_, *content->messages, kLevels[level].label);
    return true;
  }

  core::Result<void> learn(std::size_t level, std::string_view text) {
    std::shared_ptr<const Content>& content = contents_[level];
    if (content && content->text == text) return {};
    const auto counters = core::parse_aer_counters(text);
    if (!counters) return tl::unexpected(counters.error());
    content = core::intern(Content{std::string(text), counters->messages});
    for (const core::AerCount& error : counters->errors) count_errors(level, error);
    return {};
  }

  void count_errors(std::size_t level, const core::AerCount& error) {
    const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
      return kind.level == level && kind.name == error.error;
    });
    if (known != kinds_.end())
      known->count = error.count;
    else if (error.count > 0)
      kinds_.push_back({level, std::string(error.error), labels_of(level, error.error), error.count});
  }

  static std::string labels_of(std::size_t level, std::string_view error) {
    std::string labels = kLevels[level].label;
    core::append_label(labels, "error", error);
    return labels;
  }

  const std::string labels_;
  host::AttrFiles files_;
  /// Of the file of each level; null if it could not be read. Shared by all healthy links.
  std::array<std::shared_ptr<const Content>, kLevels.size()> contents_;
  std::vector<Kind> kinds_;  ///< of all levels; the size of a sysfs file limits their number
};

// The root port, where the messages of everything below it arrive.
class RootPort {
 public:
  RootPort(host::Host& host, const std::string& path, std::string_view device)
      : address_(address_of(path)),
        labels_(core::render_labels({{"device", device}, {"pci_address", address_}})),
        files_(*host.sysfs, path, host.open_files) {}

  void add(Buffer& buffer, core::JobRun& run) {
    if (const auto listed = files_.refresh(); !listed) return count_unless_absent(listed.error(), run);
    for (const Level& level : kLevels) {
      const auto text = files_.read(level.root_file, buffer);
      const auto count = text ? core::parse_counter(*text) : tl::unexpected(text.error());
      if (!count)
        count_unless_absent(count.error(), run);
      else if (*count)
        run.samples().add_stable(kRootMessages, labels_, **count, level.label);
    }
  }

  /// Whether the kernel's AER driver is bound to it ("0000:00:1c.0:pcie002").
  bool is_native(host::HostFs& sysfs, core::JobRun& run) {
    if (!bound_.empty() && sysfs.exists(kAerDriver + ("/" + bound_))) return true;
    bound_.clear();
    const auto bound = sysfs.list(kAerDriver);
    if (!bound) count_unless_absent(bound.error(), run);
    for (const std::string& name : bound.value_or(std::vector<std::string>()))
      if (name.starts_with(address_ + ":")) bound_ = name;
    return !bound_.empty();
  }

 private:
  const std::string address_;
  const std::string labels_;
  host::AttrFiles files_;
  std::string bound_;  ///< its name below the driver at the last search
};

class PcieErrorsJob : public core::Job {
 public:
  PcieErrorsJob(const Context& context, const DeviceHandle& handle)
      : Job("pcie_errors", handle.device->name),
        host_(context.host),
        device_(handle.device),
        labels_(core::render_labels({{"device", device()}})),
        facts_schedule_(kFactsInterval, device()) {}

  void run(core::JobRun& run) override {
    if (const auto device = std::exchange(device_, nullptr)) find_ends(device->path);
    Buffer buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    bool any = false;
    for (LinkEnd& end : ends_) any = end.add(buffer, run) || any;
    if (root_) root_->add(buffer, run);
    if (!any) return;
    if (facts_schedule_.take(run.now())) native_ = root_ && root_->is_native(*host_.sysfs, run);
    run.samples().add_stable(kNative, labels_, std::uint64_t{native_});
  }

 private:
  void find_ends(const std::string& device_path) {
    const std::string path = host_.sysfs->canonical(device_path + "/device").value_or("");
    const host::PciFunction function = host::find_pci_function(*host_.sysfs, device_path + "/device");
    if (function.path.empty() || function.is_vf() || is_sub_function(path)) return;
    const std::vector<std::string> way = host::pci_path_to_root(function.path);
    ends_.emplace_back(host_, way.front(), "function", device());
    if (way.size() < 2) return;
    ends_.emplace_back(host_, way[1], "port", device());
    root_ = std::make_unique<RootPort>(host_, way.back(), device());
  }

  host::Host& host_;
  std::shared_ptr<const host::Device> device_;  ///< null once its ends were looked for
  const std::string labels_;
  task::Schedule facts_schedule_;
  std::list<LinkEnd> ends_;         ///< none for virtual functions, which are many
  std::unique_ptr<RootPort> root_;  ///< null with them
  bool native_ = false;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec pcie_errors_spec;
const CollectorSpec pcie_errors_spec{
    "pcie_errors",
    "PCIe errors (AER) of each adapter, of the port above it and of its root port",
    "AER counters of the adapter, the port above it and the root port ([LINK.md](LINK.md))",
    true,
    families,
    make_per_device<PcieErrorsJob>};

}  // namespace rdma_exporter::collectors
