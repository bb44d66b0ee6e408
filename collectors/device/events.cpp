// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector events: what happened between two scrapes.
#include <net/if.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "collectors/netdev_labels.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "host/events/event_reader.h"
#include "host/events/unchanged.h"
#include "host/fs/attr_files.h"
#include "host/kernel_release.h"
#include "host/topology/netdev.h"
#include "log/log.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;
using host::EventSource;

constexpr MetricDesc kCarrierChanges{
    "rdma_netdev_carrier_changes_total",
    MetricType::counter,
    "device,port,netdev,to",
    "changes",
    "Number of times the interface behind an RDMA port gained (to=\"up\") or lost (to=\"down\") its carrier "
    "since the kernel created it. Counted by the kernel, so flaps between two scrapes are not missed",
    "sysfs class/net/N/carrier_up_count, carrier_down_count"};
constexpr MetricDesc kAdminUp{
    "rdma_netdev_admin_up",
    MetricType::gauge,
    "device,port,netdev",
    "",
    "Whether the interface is administratively up: 0 after `ip link set down`; 1 appears only with "
    "--metrics.set=full. Independent of the link",
    "sysfs class/net/N/flags, IFF_UP"};
constexpr MetricDesc kAsyncEvents{
    "rdma_device_async_events_total",
    MetricType::counter,
    "device,port,event",
    "events",
    "Asynchronous events of the device since the exporter started listening to it: PORT_ERR, PORT_ACTIVE, "
    "GID_CHANGE, LID_CHANGE, DEVICE_FATAL (reset or removal; port is empty), and others. Events of queue "
    "pairs and completion queues go only to their owner and are not included",
    "ibv_get_async_event"};
constexpr MetricDesc kAsyncUp{"rdma_exporter_async_events_up",
                              MetricType::gauge,
                              "device",
                              "",
                              "Whether the exporter receives the asynchronous events of the device: 1 if so, "
                              "0 if it should but cannot. Absent if it should not (collector.events.async)",
                              "src/host/events/event_reader.cpp"};
constexpr MetricDesc kSourceUp{
    "rdma_exporter_event_source_up",
    MetricType::gauge,
    "source",
    "",
    "Whether the exporter receives the kernel's messages from this source: 1 if so, 0 if the kernel refuses "
    "them. Absent if the kernel does not have the source",
    "src/host/events/event_reader.cpp"};
constexpr MetricDesc kReceived{
    "rdma_exporter_events_received_total",
    MetricType::counter,
    "source",
    "messages",
    "Kernel messages received about RDMA devices (uevent, monitor, async) and network interfaces (link)",
    "src/host/events/event_reader.cpp"};
constexpr MetricDesc kLost{"rdma_exporter_event_losses_total",
                           MetricType::counter,
                           "source",
                           "losses",
                           "Number of times the kernel dropped messages or a message could not be read. The "
                           "exporter then reads everything again",
                           "src/host/events/event_reader.cpp"};

constexpr std::array kFamilies{&kCarrierChanges, &kAdminUp,  &kAsyncEvents, &kAsyncUp,
                               &kSourceUp,       &kReceived, &kLost};
static_assert(core::all_valid(std::array{kCarrierChanges, kAdminUp, kAsyncEvents, kAsyncUp, kSourceUp,
                                         kReceived, kLost}));

// When to retry a device whose events could not be subscribed to.
constexpr std::chrono::seconds kRetryInterval{60};

// The carrier counters of one network interface, and whether it should have a carrier. Reading these files
// takes no RTNL lock. The kernel reports each change of them (net/core/link_watch.c, dev.c), so they are not
// read while it is silent; changes of the carrier while the interface is set down are found after a minute.
class CarrierJob : public core::Job {
 public:
  CarrierJob(const Context& context, const host::Netdev& netdev)
      : Job("events", netdev.device, netdev.name),
        files_(*context.host.sysfs, netdev.path, context.host.open_files),
        labels_(netdev_labels(netdev)),
        lean_(!context.metrics.full()),
        unchanged_(*context.host.changes) {}

  void run(core::JobRun& run) override {
    if (!unchanged_.still({netdev()}, run.now())) {
      if (const auto listed = files_.refresh(); !listed) {
        unchanged_.forget();
        return count_unless_absent(listed.error(), run);
      }
      gained_ = read_count("carrier_up_count", run);
      lost_ = read_count("carrier_down_count", run);
      admin_up_ = read_admin_state(run);
      if (!gained_ || !lost_ || !admin_up_) unchanged_.forget();
    }
    core::SampleBatch& out = run.samples();
    if (gained_) out.add_stable(kCarrierChanges, *labels_, *gained_, "to=\"up\"");
    if (lost_) out.add_stable(kCarrierChanges, *labels_, *lost_, "to=\"down\"");
    if (admin_up_ && (!lean_ || !*admin_up_)) out.add_flag(kAdminUp, *labels_, *admin_up_);
  }

 private:
  std::optional<std::uint64_t> read_count(std::string_view file, core::JobRun& run) {
    std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    const auto text = files_.read(file, buffer);
    if (!text) {
      count_unless_absent(text.error(), run);  // before Linux 4.16 there is none
      return std::nullopt;
    }
    const auto count = core::parse_counter(*text);
    if (count && *count) return *count;
    run.count_read_error("parse");
    return std::nullopt;
  }

  std::optional<bool> read_admin_state(core::JobRun& run) {
    std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    const auto text = files_.read("flags", buffer);
    if (!text) {
      count_unless_absent(text.error(), run);
      return std::nullopt;
    }
    const auto flags = core::parse_hex(*text);
    if (flags) return (*flags & IFF_UP) != 0;
    run.count_read_error(core::reason(flags.error()));
    return std::nullopt;
  }

  host::AttrFiles files_;
  const core::SharedText labels_;
  const bool lean_;
  host::Unchanged unchanged_;
  std::optional<std::uint64_t> gained_;
  std::optional<std::uint64_t> lost_;
  std::optional<bool> admin_up_;
};

// Keeps reading the asynchronous events of one device, and reports whether that works.
class AsyncJob : public core::Job {
 public:
  AsyncJob(host::Host& host, std::shared_ptr<const host::Device> device, bool pins)
      : Job("events", device->name),
        verbs_(*host.verbs),
        open_files_(host.open_files),
        events_(host.events),
        device_(std::move(device)),
        pins_(pins),
        labels_(core::shared_labels({{"device", device_->name}})),
        schedule_(kRetryInterval, device_->name) {}
  ~AsyncJob() override { close(); }

  void run(core::JobRun& run) override {
    if (!up() && schedule_.take(run.now())) open(run);
    run.samples().add_stable(kAsyncUp, *labels_, std::uint64_t{up()});
    events_->counts().for_each_of(device_->name, [&](const std::string& labels, std::uint64_t count) {
      run.samples().add(kAsyncEvents, labels, count);
    });
  }

 private:
  bool up() const { return listening_ && listening_->active(); }

  void open(core::JobRun& run) {
    close();
    if (!open_files_.take(kFiles)) return failed({core::Errc::os, EMFILE, "limits.kept_files"}, run);
    kept_ = true;
    auto events = verbs_.async_events(device_->name);
    if (!events) {
      close();
      return failed(events.error(), run);
    }
    error_.clear();
    const bool infiniband = device_->protocol == "ib" || device_->protocol == "opa";
    events_->counts().listen(device_->name, device_->ports, infiniband);
    listening_ = events_->listen(device_->name, std::move(*events), pins_);
  }

  void close() {
    listening_.reset();
    if (std::exchange(kept_, false)) open_files_.give_back(kFiles);
  }

  // A refusal is usually permanent, so it is counted and logged once.
  void failed(const core::Error& error, core::JobRun& run) {
    if (std::exchange(error_, core::to_string(error)) == core::to_string(error)) return;
    if (host::means_no_verbs(error)) return;
    run.count_read_error(core::reason(error));
    log::warn("the asynchronous events of a device cannot be received",
              {{"device", device_->name}, {"error", error_}});
  }

  // The verbs device, and the queue of its events.
  static constexpr unsigned kFiles = 2;

  host::Verbs& verbs_;
  host::OpenFileBudget& open_files_;
  const std::shared_ptr<host::EventReader> events_;
  const std::shared_ptr<const host::Device> device_;
  const bool pins_;
  const core::SharedText labels_;
  task::Schedule schedule_;
  std::unique_ptr<host::EventReader::Listening> listening_;
  bool kept_ = false;
  std::string error_;
};

// Counts of each source, and the events of devices that have disappeared: the last one, DEVICE_FATAL, must
// remain visible.
class EventsJob : public core::Job {
 public:
  explicit EventsJob(const Context& context) : Job("events", ""), context_(context) {}

  void run(core::JobRun& run) override {
    host::EventCounts& counts = context_.host.events->counts();
    for (std::size_t i = 0; i < host::kEventSourceNames.size(); ++i)
      add_source(i, counts.source(static_cast<EventSource>(i)), run.samples());
    counts.for_each_gone(context_.forget_after, run.now(),
                         [&](const std::string& labels, std::uint64_t count) {
                           run.samples().add(kAsyncEvents, labels, count);
                         });
  }

 private:
  void add_source(std::size_t index, const host::EventCounts::Source& source, core::SampleBatch& out) {
    const std::string_view name = host::kEventSourceNames[index];
    const std::string labels = core::render_labels({{"source", name}});
    // AsyncJob reports for each device whether its events are subscribed to.
    const bool async = static_cast<EventSource>(index) == EventSource::async;
    if (!async && !source.up) return;
    if (source.up) out.add_flag(kSourceUp, labels, *source.up);
    out.add(kReceived, labels, source.received);
    if (!async) out.add(kLost, labels, source.lost);
    const bool down = source.up && !*source.up;
    if (std::exchange(down_[index], down) || !down) return;
    log::warn("kernel messages are not received: changes are found only by the next periodic read",
              {{"source", std::string(name)}, {"error", core::to_string(source.error)}});
  }

  const Context& context_;
  std::array<bool, host::kEventSourceNames.size()> down_{};
};

class EventsCollector : public Collector {
 public:
  explicit EventsCollector(const Context& context) : context_(context), events_(context.host.events) {}
  ~EventsCollector() override { adopt({}); }
  EventsCollector(const EventsCollector&) = delete;
  EventsCollector& operator=(const EventsCollector&) = delete;

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    if (!events_ || !context_.host.verbs) return nullptr;
    const host::Kernel& kernel = context_.host.kernel;
    const bool pins = !host::lets_go_while_open(handle.device->driver, kernel.release, kernel.version);
    const bool wanted = context_.async_events == AsyncEventsPolicy::on ||
                        (context_.async_events == AsyncEventsPolicy::automatic && !pins);
    return wanted ? std::make_shared<AsyncJob>(context_.host, handle.device, pins) : nullptr;
  }
  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    return std::make_shared<CarrierJob>(context_, *netdev);
  }
  std::shared_ptr<core::Job> host_job() override {
    return events_ ? std::make_shared<EventsJob>(context_) : nullptr;
  }
  void devices_changed(std::span<const DeviceHandle> devices) override {
    if (events_) events_->set_rdma_present(!devices.empty());
    std::vector<std::string> names;
    for (const DeviceHandle& handle : devices) names.push_back(handle.device->name);
    adopt(std::move(names));
  }

 private:
  // By the list of devices, not by the life of the jobs: while a read of a device that was removed hangs, its
  // jobs are still there, and its last event must be visible.
  void adopt(std::vector<std::string> names) {
    if (!events_) return;
    for (const std::string& name : names) events_->counts().adopt(name);
    for (const std::string& name : std::exchange(adopted_, std::move(names)))
      events_->counts().release(name, host::EventCounts::Clock::now());
  }

  const Context& context_;
  const std::shared_ptr<host::EventReader> events_;
  std::vector<std::string> adopted_;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec events_spec;
const CollectorSpec events_spec{
    "events",
    "What happened between two scrapes: flaps, resets, hot-plug, asynchronous events",
    "carrier counters, kernel messages, asynchronous verbs events ([EVENTS.md](EVENTS.md))",
    true,
    families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<EventsCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
