// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/probe/fake_verbs.h"

#include <stdexcept>
#include <utility>

#include "tests/unit/probe/fake_objects.h"

namespace rdma_exporter::test {

FakeFabric::FakeFabric() { fabric = this; }
FakeFabric::~FakeFabric() { fabric = nullptr; }

void FakeFabric::add(const std::string& name, std::vector<FakePort> ports) {
  const std::lock_guard lock(mutex_);
  adapters_.push_back(std::make_unique<FakeAdapter>(name, std::move(ports)));
}

namespace {

FakeAdapter& find(const std::vector<std::unique_ptr<FakeAdapter>>& adapters, const std::string& name) {
  for (const auto& adapter : adapters)
    if (name == adapter->name) return *adapter;
  throw std::invalid_argument(name);
}

}  // namespace

void FakeFabric::set_port(const std::string& name, std::uint8_t port, const FakePort& settings) {
  const std::lock_guard lock(mutex_);
  find(adapters_, name).ports.at(port - 1U) = settings;
}
void FakeFabric::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  find(adapters_, name).listed = false;
}
void FakeFabric::event(const std::string& name, ibv_event_type type, std::uint8_t port) {
  const std::lock_guard lock(mutex_);
  FakeAdapter& adapter = find(adapters_, name);
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  adapter.events.push_back(event);
  for (const int fd : adapter.event_fds) ::eventfd_write(fd, 1);
}
void FakeFabric::block_connects(const std::string& name, bool block) {
  const std::lock_guard lock(mutex_);
  FakeAdapter& adapter = find(adapters_, name);
  adapter.connects_blocked = block;
  adapter.connects_blocked.notify_all();
}
void FakeFabric::break_adapter(const std::string& name) {
  const std::lock_guard lock(mutex_);
  find(adapters_, name).broken = true;
}
void FakeFabric::fail_with(ibv_wc_status status) {
  const std::lock_guard lock(mutex_);
  forced_ = status;
}
void FakeFabric::lose_sends(bool lost) {
  const std::lock_guard lock(mutex_);
  sends_lost_ = lost;
}
void FakeFabric::set_round_trip(std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  round_trip_ns_ = static_cast<std::uint64_t>(time.count());
}
void FakeFabric::set_folder(const std::string& name, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  FakeAdapter& adapter = find(adapters_, name);
  folder.copy(adapter.ibdev_path, sizeof(adapter.ibdev_path) - 1);
}
void FakeFabric::set_clock(std::uint64_t khz) {
  const std::lock_guard lock(mutex_);
  clock_khz_ = khz;
}
std::vector<FakeQpRecord> FakeFabric::queue_pairs() const {
  const std::lock_guard lock(mutex_);
  std::vector<FakeQpRecord> all;
  for (const auto& record : records_) all.push_back(*record);
  return all;
}
unsigned FakeFabric::polls(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return find(adapters_, name).polls;
}
unsigned FakeFabric::open_contexts() const {
  const std::lock_guard lock(mutex_);
  unsigned open = 0;
  for (const auto& adapter : adapters_) open += adapter->contexts;
  return open;
}
std::string FakeFabric::offences() const {
  const std::lock_guard lock(mutex_);
  return offences_;
}

}  // namespace rdma_exporter::test
