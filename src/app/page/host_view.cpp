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
  if (i >= places.size()) return false;
  const Place& place = places[i];
  const Quantity& quantity = quantities[place.quantity];
  if (quantity.metric != sample.metric) return false;
  const bool same_owner = previous != nullptr && previous->owner().data() == sample.owner().data() &&
                          previous->owner().size() == sample.owner().size() &&
                          places[i - 1].owner == place.owner;
  return (same_owner || equals(owners[place.owner], sample.owner())) && equals(quantity.own, sample.own());
}

// Makes a layout. The labels it is given must stay until it is made.
class HostView::LayoutBuilder {
 public:
  /// Begins with the first `count` places of `known`.
  LayoutBuilder(const Layout& known, std::size_t count);

  void add(const core::MetricDesc* metric, const Labels& labels);
  /// Adds those samples of `earlier` whose families it lacks, and their values to `values`.
  void add_others(const Snapshot& earlier, std::vector<double>& values);
  std::shared_ptr<const Layout> finish();

 private:
  Layout::Text append(std::string_view part);
  std::uint32_t quantity(const core::MetricDesc* metric, std::string_view own);
  std::uint32_t owner(std::string_view labels);

  std::shared_ptr<Layout> layout_ = std::make_shared<Layout>();
  std::map<std::pair<const core::MetricDesc*, std::string_view>, std::uint32_t> quantities_;
  std::unordered_map<std::string_view, std::uint32_t> owners_;
};

HostView::LayoutBuilder::LayoutBuilder(const Layout& known, std::size_t count) {
  layout_->places.reserve(known.places.size());
  layout_->places.assign(known.places.begin(), known.places.begin() + static_cast<std::ptrdiff_t>(count));
  // Those of the first places come first, and so get the indices that they had.
  std::size_t quantities = 0;
  std::size_t owners = 0;
  for (const Layout::Place& place : layout_->places) {
    quantities = std::max<std::size_t>(quantities, place.quantity + 1);
    owners = std::max<std::size_t>(owners, place.owner + 1);
  }
  for (std::size_t i = 0; i < quantities; ++i)
    quantity(known.quantities[i].metric, known.view(known.quantities[i].own));
  for (std::size_t i = 0; i < owners; ++i) owner(known.view(known.owners[i]));
}

// Most samples have the owner of the one before.
void HostView::LayoutBuilder::add(const core::MetricDesc* metric, const Labels& labels) {
  std::vector<Layout::Place>& places = layout_->places;
  const bool same_owner =
      !places.empty() && layout_->equals(layout_->owners[places.back().owner], labels.owner);
  places.push_back({quantity(metric, labels.own), same_owner ? places.back().owner : owner(labels.owner)});
}

HostView::Layout::Text HostView::LayoutBuilder::append(std::string_view part) {
  const auto at = static_cast<std::uint32_t>(layout_->text.size());
  layout_->text.append(part);
  return {at, static_cast<std::uint32_t>(part.size())};
}

std::uint32_t HostView::LayoutBuilder::quantity(const core::MetricDesc* metric, std::string_view own) {
  const auto next = static_cast<std::uint32_t>(layout_->quantities.size());
  const auto [place, is_new] = quantities_.try_emplace({metric, own}, next);
  if (is_new) layout_->quantities.push_back({metric, append(own)});
  return place->second;
}

std::uint32_t HostView::LayoutBuilder::owner(std::string_view labels) {
  const auto next = static_cast<std::uint32_t>(layout_->owners.size());
  const auto [place, is_new] = owners_.try_emplace(labels, next);
  if (is_new) layout_->owners.push_back(append(labels));
  return place->second;
}

void HostView::LayoutBuilder::add_others(const Snapshot& earlier, std::vector<double>& values) {
  std::set<const core::MetricDesc*> said;
  for (const Layout::Quantity& quantity : layout_->quantities) said.insert(quantity.metric);
  earlier.for_each([&](const core::MetricDesc& metric, const Labels& labels, double value) {
    if (said.contains(&metric)) return;
    add(&metric, labels);
    values.push_back(value);
    ++layout_->others;
  });
}

std::shared_ptr<const HostView::Layout> HostView::LayoutBuilder::finish() {
  layout_->places.shrink_to_fit();
  layout_->quantities.shrink_to_fit();
  layout_->owners.shrink_to_fit();
  layout_->text.shrink_to_fit();
  return std::move(layout_);
}

bool HostView::look_up(const core::MetricDesc& metric) {
  const auto [place, is_new] = wanted_.try_emplace(&metric, false);
  if (is_new) {
    const bool gauge = std::find(kGauges.begin(), kGauges.end(), metric.name) != kGauges.end();
    place->second = gauge || (metric.type == MetricType::counter && doctor::has_words(metric.name));
  }
  return place->second;
}

// A new layout begins with the first sample that differs from the last collection. A collection of some
// collectors keeps the samples of families that it lacks.
HostView::Snapshot HostView::take(const std::vector<const core::SampleBatch*>& batches, bool whole,
                                  Clock::time_point now) {
  const Layout& known = *latest_.layout;
  Snapshot taken{latest_.layout, {}, now};
  std::vector<double>& values = taken.values;
  values.reserve(known.places.size());
  std::optional<LayoutBuilder> fresh;
  const core::Sample* previous = nullptr;
  for (const core::SampleBatch* batch : batches)
    for (const core::Sample& sample : batch->samples()) {
      if (!is_wanted(*sample.metric)) continue;
      const double value = value_of(sample);
      // A counter that is 0 has nothing to say; that a device is there is said by the state of its ports.
      if (value == 0 && sample.metric->type == MetricType::counter) continue;
      const std::size_t i = values.size();
      if (fresh || !known.has(i, sample, previous)) {
        if (!fresh) fresh.emplace(known, i);
        fresh->add(sample.metric, {sample.owner(), sample.own()});
      }
      values.push_back(value);
      previous = &sample;
    }
  const std::size_t said = known.places.size() - known.others;
  const bool as_before = values.size() == said && (!whole || known.others == 0);
  if (!fresh && !as_before) fresh.emplace(known, values.size());
  if (!fresh) {
    values.insert(values.end(), latest_.values.begin() + static_cast<std::ptrdiff_t>(said),
                  latest_.values.end());
    return taken;
  }
  if (!whole) fresh->add_others(latest_, values);
  values.shrink_to_fit();
  taken.layout = fresh->finish();
  return taken;
}

void HostView::observe(const std::vector<const core::SampleBatch*>& batches, bool whole,
                       Clock::time_point now) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    Snapshot taken = take(batches, whole, now);
    if (latest_.time && (!base_.time || *latest_.time - *base_.time >= kShortest)) base_ = std::move(latest_);
    latest_ = std::move(taken);
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
