// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/sampler/device_sampler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/kernel_text.h"
#include "host/events/port_states.h"

namespace rdma_exporter::collectors {

using std::chrono::nanoseconds;

void ReadWatch::begin(BurstClock::time_point now, nanoseconds window) {
  window_ = window.count();
  since_ = now.time_since_epoch().count();
}

bool ReadWatch::hangs(BurstClock::time_point now) const {
  const std::int64_t since = since_;
  constexpr std::int64_t kSecond = 1'000'000'000;
  return since != 0 && now.time_since_epoch().count() - since > std::max(10 * window_, kSecond);
}

DeviceSampler::Port::Port(host::Host& host, const host::Device& device, std::uint32_t port)
    : number(port), files(*host.sysfs, device.port_path(port), host.open_files) {
  readers.push_back(make_port_files_reader(host, device, port));
  if (auto statistics = make_statistics_reader(host, device, port)) readers.push_back(std::move(statistics));
}

DeviceSampler::DeviceSampler(host::Host& host, const std::shared_ptr<const host::Device>& device,
                             const BurstSettings& settings,
                             std::shared_ptr<const std::atomic<unsigned>> threads, BurstTime time)
    : settings_(settings), threads_(std::move(threads)), time_(std::move(time)), pace_(settings.window) {
  for (const std::uint32_t number : device->ports) ports_.emplace_back(host, *device, number);
}

BurstClock::time_point DeviceSampler::turn(bool first) {
  const auto begin = time_.now();
  const nanoseconds cpu = time_.cpu();
  watch_.begin(begin, pace_.window());
  if (first || begin >= next_look_) {
    for (Port& port : ports_) look(port);
    next_look_ = begin + kLook;
  }
  bool any = false;
  for (Port& port : ports_) {
    if (first)
      for (const auto& reader : port.readers) reader->source().forget();
    any = read(port) || any;
  }
  watch_.end();
  const auto end = time_.now();
  if (!any) return end + kIdle;
  const double limit = settings_.max_cpu_percent / 100.0 / std::max(1U, threads_->load());
  pace_.account(end, end - begin, time_.cpu() - cpu, limit);
  tick_ = next_tick(end, time_.wall(), pace_.window());
  return tick_.at;
}

void DeviceSampler::look(Port& port) {
  const auto now_possible = rate(port);
  port.ready = now_possible.has_value();
  for (const auto& reader : port.readers) {
    // Without a link nothing is read, and what was read before is no base.
    if (port.ready) reader->source().set_capacity(*now_possible);
    if (!port.ready) reader->source().forget();
  }
}

std::optional<double> DeviceSampler::rate(Port& port) {
  std::array<char, 64> buffer{};
  if (!port.files.refresh()) return {};
  const auto state = port.files.read("state", buffer).and_then(core::parse_enum);
  if (!state || *state != host::kPortActive) return {};
  const auto rate = port.files.read("rate", buffer).and_then(core::parse_rate);
  if (!rate || rate->bytes_per_second <= 0) return {};
  return rate->bytes_per_second;
}

// True when there is, or may soon be, something to sample.
bool DeviceSampler::read(Port& port) {
  if (!port.ready) return false;
  bool any = false;
  for (const auto& reader : port.readers) {
    // A driver that refreshes its counters rarely is read as rarely: four refreshes make a window.
    const nanoseconds tick = pace_.window();
    const auto refresh = reader->source().refresh();
    const std::int64_t ticks = refresh ? (4 * *refresh + tick - nanoseconds(1)) / tick : 1;
    if (tick_.number % std::max<std::int64_t>(ticks, 1) != 0) {
      any = true;
      continue;
    }
    reader->read({std::max<std::int64_t>(ticks, 1) * tick}, time_);
    any = any || reader->source().has_counters();
  }
  return any;
}

}  // namespace rdma_exporter::collectors
