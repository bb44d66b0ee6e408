// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/page/host_view.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/seconds.h"
#include "doctor/checks/checks.h"
#include "doctor/words/counter_words.h"
#include "facts/fact_cache.h"
#include "log/caught.h"

namespace rdma_exporter::app {
namespace {

using core::MetricType;

// Families that are no counters, and what becomes of them.
constexpr std::string_view kPortState = "rdma_port_state";
constexpr std::string_view kPortRate = "rdma_port_rate_bytes_per_second";
constexpr std::string_view kOwnerQps = "rdma_resource_owner_qps";
constexpr std::string_view kOwnerBytes = "rdma_resource_owner_mr_bytes";
constexpr std::string_view kDeviceInfo = "rdma_device_info";
constexpr std::string_view kPortInfo = "rdma_port_info";
constexpr std::string_view kCheck = "rdma_config_check";
constexpr std::array kGauges{kPortState, kPortRate, kOwnerQps, kOwnerBytes, kDeviceInfo, kPortInfo, kCheck};

std::uint32_t number_of(const std::string& text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

facts::DeviceFacts& device_of(doctor::Facts& facts, const std::string& name) {
  for (facts::DeviceFacts& device : facts.devices)
    if (device.name == name) return device;
  facts.devices.emplace_back().name = name;
  return facts.devices.back();
}

facts::PortFacts& port_of(facts::DeviceFacts& device, std::uint32_t number) {
  for (facts::PortFacts& port : device.ports)
    if (port.number == number) return port;
  device.ports.emplace_back().number = number;
  return device.ports.back();
}

// The device and port of an interface's counter, where the labels do not name them.
void place(doctor::CounterFacts& counter, const doctor::Facts& facts) {
  if (!counter.device.empty()) return;
  for (const facts::DeviceFacts& device : facts.devices)
    for (const facts::NetdevFacts& netdev : device.netdevs)
      if (netdev.name == counter.netdev && counter.device.empty()) {
        counter.device = device.name;
        counter.port = std::to_string(netdev.port);
      }
}

double value_of(const core::Sample& sample) {
  return sample.is_real ? sample.real : static_cast<double>(sample.integer);
}

const doctor::Check* check_of(std::string_view id) {
  for (const doctor::Check* check : doctor::all_checks())
    if (check->id == id) return check;
  return nullptr;
}

doctor::Verdict verdict_of(double value) {
  if (value >= 2) return doctor::Verdict::critical;
  return value >= 1 ? doctor::Verdict::warning : doctor::Verdict::ok;
}

void take_device_info(std::string_view labels, doctor::Facts& facts) {
  facts::DeviceFacts& device = device_of(facts, doctor::label_of(labels, "device"));
  device.driver = doctor::label_of(labels, "driver");
  device.firmware = doctor::label_of(labels, "fw_version");
}

void take_port_info(std::string_view labels, doctor::Facts& facts) {
  facts::DeviceFacts& device = device_of(facts, doctor::label_of(labels, "device"));
  facts::PortFacts& port = port_of(device, number_of(doctor::label_of(labels, "port")));
  port.link_layer = doctor::label_of(labels, "link_layer");
  const std::string name = doctor::label_of(labels, "netdev");
  if (name.empty()) return;
  facts::NetdevFacts& netdev = device.netdevs.emplace_back();
  netdev.name = name;
  netdev.port = port.number;
}

}  // namespace

std::string HostView::Labels::joined() const { return core::Sample(nullptr, owner, own, false).labels(); }

// Samples of one owner follow each other and share its labels, so these are mostly compared by address.
bool HostView::Layout::has(std::size_t i, const core::Sample& sample, const core::Sample* previous) const {
  if (i >= places.size() || places[i].metric != sample.metric) return false;
  const Place& place = places[i];
  const bool same_owner = previous != nullptr && previous->owner().data() == sample.owner().data() &&
                          previous->owner().size() == sample.owner().size() &&
                          places[i - 1].owner == place.owner;
  return (same_owner || equals(place.owner, sample.owner())) && equals(place.own, sample.own());
}

HostView::Layout::Text HostView::Layout::append(std::string_view part) {
  const auto at = static_cast<std::uint32_t>(text.size());
  text.append(part);
  return {at, static_cast<std::uint32_t>(part.size())};
}

void HostView::Layout::add(const core::MetricDesc* metric, const Labels& labels) {
  const bool same_owner = !places.empty() && view(places.back().owner) == labels.owner;
  const Text owner = same_owner ? places.back().owner : append(labels.owner);
  places.push_back({metric, owner, append(labels.own)});
}

std::shared_ptr<HostView::Layout> HostView::Layout::first(std::size_t count) const {
  auto copy = std::make_shared<Layout>();
  copy->places.assign(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count));
  if (count > 0) copy->text = text.substr(0, copy->places.back().own.at + copy->places.back().own.length);
  return copy;
}

bool HostView::look_up(const core::MetricDesc& metric) {
  const auto [place, is_new] = wanted_.try_emplace(&metric, false);
  if (is_new) {
    const bool gauge = std::find(kGauges.begin(), kGauges.end(), metric.name) != kGauges.end();
    place->second = gauge || (metric.type == MetricType::counter && doctor::has_words(metric.name));
  }
  return place->second;
}

// A new layout begins with the first sample that differs from the last collection.
void HostView::take(const std::vector<const core::SampleBatch*>& batches, bool whole, Snapshot& into) {
  std::shared_ptr<Layout> fresh;
  const Layout& known = *latest_.layout;
  into.values.reserve(known.places.size());
  const core::Sample* previous = nullptr;
  for (const core::SampleBatch* batch : batches)
    for (const core::Sample& sample : batch->samples()) {
      if (!is_wanted(*sample.metric)) continue;
      const double value = value_of(sample);
      // A counter that is 0 has nothing to say; that a device is there is said by the state of its ports.
      if (value == 0 && sample.metric->type == MetricType::counter) continue;
      const std::size_t i = into.values.size();
      if (!fresh && !known.has(i, sample, previous)) fresh = known.first(i);
      if (fresh) fresh->add(sample.metric, {sample.owner(), sample.own()});
      into.values.push_back(value);
      previous = &sample;
    }
  const std::size_t taken = into.values.size();
  const bool as_before = taken == known.places.size() - known.others && (!whole || known.others == 0);
  if (!fresh && !as_before) fresh = known.first(taken);
  into.layout = latest_.layout;
  if (!fresh) {
    into.values.insert(into.values.end(), latest_.values.begin() + static_cast<std::ptrdiff_t>(taken),
                       latest_.values.end());
    return;
  }
  fresh->places.shrink_to_fit();
  fresh->text.shrink_to_fit();
  into.values.shrink_to_fit();
  into.layout = std::move(fresh);
  if (!whole) keep_others(into);
}

// Keeps the samples of families that the new collection lacks.
void HostView::keep_others(Snapshot& into) const {
  std::set<const core::MetricDesc*> said;
  for (const Layout::Place& place : into.layout->places) said.insert(place.metric);
  const std::shared_ptr<Layout> both = into.layout->first(into.values.size());
  latest_.for_each([&](const core::MetricDesc& metric, const Labels& labels, double value) {
    if (said.contains(&metric)) return;
    both->add(&metric, labels);
    into.values.push_back(value);
  });
  both->others = into.values.size() - into.layout->places.size();
  into.layout = both;
}

void HostView::observe(const std::vector<const core::SampleBatch*>& batches, bool whole,
                       Clock::time_point now) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    spare_.values.clear();
    take(batches, whole, spare_);
    spare_.time = now;
    if (latest_.time && (!base_.time || *latest_.time - *base_.time >= kShortest)) std::swap(base_, latest_);
    std::swap(latest_, spare_);
  } catch (const std::exception& error) {
    log::caught("the status page keeps showing an older collection", error);
  }
}

void HostView::add_devices(doctor::Facts& facts) const {
  latest_.for_each([&](const core::MetricDesc& metric, const Labels& parts, double value) {
    const std::string_view name = metric.name;
    if (metric.type == MetricType::counter) return;
    const std::string labels = parts.joined();
    if (name == kDeviceInfo) take_device_info(labels, facts);
    if (name == kPortInfo) take_port_info(labels, facts);
    if (name != kPortState && name != kPortRate) return;
    facts::PortFacts& port = port_of(device_of(facts, doctor::label_of(labels, "device")),
                                     number_of(doctor::label_of(labels, "port")));
    if (name == kPortRate) port.rate = value;
    if (name == kPortState) port.state = static_cast<std::uint32_t>(value);
  });
}

// Verdicts of the collector config_check, which keeps the evidence. The state of a port is left out: the page
// has a newer one.
void HostView::add_verdicts(doctor::Findings& findings) const {
  latest_.for_each([&](const core::MetricDesc& metric, const Labels& parts, double value) {
    if (metric.name != kCheck) return;
    const std::string labels = parts.joined();
    const auto label = [&](std::string_view name) { return doctor::label_of(labels, name); };
    const doctor::Check* check = check_of(label("check"));
    if (check == nullptr || check->id == "port_state") return;
    findings.push_back({check,
                        {label("device"), label("port"), label("netdev")},
                        verdict_of(value),
                        "rdma_exporter doctor shows the evidence",
                        "failed check: \"" + std::string(check->title) + "\""});
  });
}

void HostView::add_counters(doctor::Facts& facts) const {
  using Key = std::pair<const core::MetricDesc*, std::string>;
  std::map<Key, double> before;
  std::set<std::string> devices;  // that were there
  base_.for_each([&](const core::MetricDesc& metric, const Labels& parts, double value) {
    const std::string labels = parts.joined();
    before[{&metric, labels}] = value;
    if (metric.name == kPortState) devices.insert(doctor::label_of(labels, "device"));
  });
  const bool watched = base_.time && latest_.time && *latest_.time > *base_.time;
  if (watched) facts.sample_seconds = core::seconds(*latest_.time - *base_.time);
  latest_.for_each([&](const core::MetricDesc& metric, const Labels& parts, double value) {
    if (metric.type != MetricType::counter) return;
    const std::string labels = parts.joined();
    doctor::CounterFacts counter{std::string(metric.name),
                                 labels,
                                 doctor::label_of(labels, "device"),
                                 doctor::label_of(labels, "port"),
                                 doctor::label_of(labels, "netdev"),
                                 value,
                                 std::nullopt};
    place(counter, facts);
    const auto was = before.find({&metric, labels});
    const bool new_device = !devices.contains(counter.device);
    if (watched && (was != before.end() || !new_device)) {
      const double moved = value - (was == before.end() ? 0 : was->second);
      if (moved >= 0) counter.moved = moved;  // less: it was reset
    }
    facts.counters.push_back(std::move(counter));
  });
}

std::vector<doctor::Owner> HostView::owners() const {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, doctor::Owner> owners;
  latest_.for_each([&](const core::MetricDesc& metric, const Labels& parts, double value) {
    const bool qps = metric.name == kOwnerQps;
    if (!qps && metric.name != kOwnerBytes) return;
    const std::string labels = parts.joined();
    const auto label = [&](std::string_view name) { return doctor::label_of(labels, name); };
    doctor::Owner& owner = owners[{label("device"), label("owner_kind"), label("owner"), label("container")}];
    (qps ? owner.qps : owner.memory_bytes) = static_cast<std::uint64_t>(value);
  });
  std::vector<doctor::Owner> list;
  for (auto& [key, owner] : owners) {
    std::tie(owner.device, owner.kind, owner.name, owner.container) = key;
    list.push_back(std::move(owner));
  }
  return list;
}

HostView::Content HostView::content() const {
  Content content;
  if (!host_name_.empty()) content.facts.system.host_name = host_name_;
  if (!kernel_.empty()) content.facts.system.kernel_release = kernel_;
  {
    const std::lock_guard lock(mutex_);
    add_devices(content.facts);
    add_counters(content.facts);
    content.owners = owners();
    add_verdicts(content.findings);
  }
  for (const facts::DeviceFacts& device : content.facts.devices)
    doctor::check_ports(device, content.findings);
  doctor::check_counters(content.facts.counters, content.facts.sample_seconds, content.findings);
  // What a sample does not tell is not unknown, it was not looked at here.
  std::erase_if(content.findings,
                [](const auto& finding) { return finding.verdict == doctor::Verdict::unknown; });
  std::stable_sort(content.findings.begin(), content.findings.end(),
                   [](const auto& one, const auto& other) { return one.verdict > other.verdict; });
  return content;
}

}  // namespace rdma_exporter::app
