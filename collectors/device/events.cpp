// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector events: what happened between two scrapes.
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "collectors/refresh_timer.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "host/kernel_release.h"
#include "log/log.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;
using host::EventSource;

constexpr MetricDesc kCarrierChanges{
    "rdma_netdev_carrier_changes_total",
    MetricType::counter,
    "netdev,to",
    "changes",
    "Times that the interface behind an RDMA port got (to=\"up\") or lost (to=\"down\") its carrier since "
    "the "
    "kernel made it; counted by the kernel, so a flap between two scrapes is not missed",
    "sysfs class/net/N/carrier_up_count, carrier_down_count"};
constexpr MetricDesc kAsyncEvents{
    "rdma_async_events_total",
    MetricType::counter,
    "device,port,event",
    "events",
    "Asynchronous events of the device since the exporter listens to it: PORT_ERR, PORT_ACTIVE, GID_CHANGE, "
    "LID_CHANGE, DEVICE_FATAL (reset or removal, no port), ... Events of queue pairs and completion queues "
    "go to "
    "their owner only and are not here",
    "ibv_get_async_event"};
constexpr MetricDesc kAsyncUp{"rdma_exporter_async_events_up",
                              MetricType::gauge,
                              "device",
                              "",
                              "1 while the asynchronous events of the device are listened to, 0 when they "
                              "should be and cannot; absent when "
                              "they are not to be (collector.events.async)",
                              "src/host/events/event_reader.cpp"};
constexpr MetricDesc kSourceUp{"rdma_exporter_event_source_up",
                               MetricType::gauge,
                               "source",
                               "",
                               "1 while the kernel's messages of this source are received, 0 when they are "
                               "refused; absent when the kernel "
                               "does not have the source",
                               "src/host/events/event_reader.cpp"};
constexpr MetricDesc kReceived{
    "rdma_exporter_events_received_total",
    MetricType::counter,
    "source",
    "messages",
    "Messages of the kernel about RDMA devices (uevent, monitor, async) and about network interfaces (link)",
    "src/host/events/event_reader.cpp"};
constexpr MetricDesc kLost{
    "rdma_exporter_event_losses_total",
    MetricType::counter,
    "source",
    "losses",
    "Times that the kernel had to drop messages or one could not be read; everything is read again then",
    "src/host/events/event_reader.cpp"};

constexpr std::array kFamilies{&kCarrierChanges, &kAsyncEvents, &kAsyncUp, &kSourceUp, &kReceived, &kLost};
static_assert(core::all_valid(std::array{kCarrierChanges, kAsyncEvents, kAsyncUp, kSourceUp, kReceived,
                                         kLost}));

// How soon a device whose events could not be listened to is tried again.
constexpr std::chrono::seconds kRetryInterval{60};

// The carrier counters of one network interface.
class CarrierJob : public core::Job {
 public:
  CarrierJob(host::Host& host, const host::Netdev& netdev)
      : Job("events", netdev.name),
        files_(*host.sysfs, netdev.path, host.open_files),
        labels_(core::render_labels({{"netdev", netdev.name}})) {}

  void run(core::JobRun& run) override {
    if (const auto listed = files_.refresh(); !listed) return count_unless_absent(listed.error(), run);
    add("carrier_up_count", "to=\"up\"", run);
    add("carrier_down_count", "to=\"down\"", run);
  }

 private:
  void add(std::string_view file, std::string_view to, core::JobRun& run) {
    std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    const auto text = files_.read(file, buffer);
    if (!text) return count_unless_absent(text.error(), run);  // before Linux 4.16 there is none
    const auto count = core::parse_counter(*text);
    if (!count || !*count) return run.count_read_error("parse");
    run.samples().add_stable(kCarrierChanges, labels_, **count, to);
  }

  host::AttrDir files_;
  std::string labels_;
};

// Keeps the asynchronous events of one device being read, and says so.
class AsyncJob : public core::Job {
 public:
  AsyncJob(host::Host& host, std::shared_ptr<const host::Device> device, bool pins)
      : Job("events", device->name),
        verbs_(*host.verbs),
        open_files_(host.open_files),
        events_(host.events),
        device_(std::move(device)),
        pins_(pins),
        labels_(core::render_labels({{"device", device_->name}})),
        timer_(kRetryInterval, device_->name) {
    events_->counts().adopt(device_->name);
  }
  ~AsyncJob() override {
    events_->counts().release(device_->name, host::EventCounts::Clock::now());
    close();
  }

  void run(core::JobRun& run) override {
    if (!up() && timer_.due(run.now())) open(run);
    run.samples().add_stable(kAsyncUp, labels_, std::uint64_t{up()});
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

  // Refused once is refused for ever, mostly: counted and said once.
  void failed(const core::Error& error, core::JobRun& run) {
    if (std::exchange(error_, core::to_string(error)) == core::to_string(error)) return;
    if (host::means_no_verbs(error)) return;
    run.count_read_error(core::reason(error));
    log::warn("the asynchronous events of a device cannot be listened to",
              {{"device", device_->name}, {"error", error_}});
  }

  // The verbs device and the queue of its events.
  static constexpr unsigned kFiles = 2;

  host::Verbs& verbs_;
  host::OpenFileBudget& open_files_;
  const std::shared_ptr<host::EventReader> events_;
  const std::shared_ptr<const host::Device> device_;
  const bool pins_;
  const std::string labels_;
  RefreshTimer timer_;
  std::unique_ptr<host::EventReader::Listening> listening_;
  bool kept_ = false;
  std::string error_;
};

// What was received of each source, and the events of devices that have gone: their last one, DEVICE_FATAL,
// is the one to be seen.
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
    // Whether each device's events are listened to is said by device.
    const bool async = static_cast<EventSource>(index) == EventSource::async;
    if (!async && !source.up) return;
    if (source.up) out.add_flag(kSourceUp, labels, *source.up);
    out.add(kReceived, labels, source.received);
    if (!async) out.add(kLost, labels, source.lost);
    const bool down = source.up && !*source.up;
    if (std::exchange(down_[index], down) || !down) return;
    log::warn("messages of the kernel are not received: changes are found by the next periodic reading",
              {{"source", std::string(name)}, {"error", core::to_string(source.error)}});
  }

  const Context& context_;
  std::array<bool, host::kEventSourceNames.size()> down_{};
};

class EventsCollector : public Collector {
 public:
  explicit EventsCollector(const Context& context) : context_(context) {}

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    if (!context_.host.events || !context_.host.verbs) return nullptr;
    const host::Kernel& kernel = context_.host.kernel;
    const bool pins = !host::lets_go_while_open(handle.device->driver, kernel.release, kernel.version);
    const bool wanted = context_.async_events == AsyncEventsPolicy::on ||
                        (context_.async_events == AsyncEventsPolicy::automatic && !pins);
    return wanted ? std::make_shared<AsyncJob>(context_.host, handle.device, pins) : nullptr;
  }
  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    return std::make_shared<CarrierJob>(context_.host, *netdev);
  }
  std::shared_ptr<core::Job> host_job() override {
    return context_.host.events ? std::make_shared<EventsJob>(context_) : nullptr;
  }
  void devices_changed(std::span<const DeviceHandle> devices) override {
    if (context_.host.events) context_.host.events->set_rdma_present(!devices.empty());
  }

 private:
  const Context& context_;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec events_spec;
const CollectorSpec events_spec{"events",
                                "What happened between two scrapes: links, devices, asynchronous events",
                                true, families, [](const Context& context) -> std::unique_ptr<Collector> {
                                  return std::make_unique<EventsCollector>(context);
                                }};

}  // namespace rdma_exporter::collectors
