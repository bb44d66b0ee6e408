// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <infiniband/verbs.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/probe/fake_verbs.h"

// What the handles of fake_verbs.h's library point to.
namespace rdma_exporter::test {

inline FakeFabric* fabric = nullptr;

inline void set_name(char (&to)[IBV_SYSFS_NAME_MAX], const std::string& name) {
  name.copy(to, sizeof(to) - 1);
}

inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

class FakeAdapter : public ibv_device {
 public:
  FakeAdapter(const std::string& called, std::vector<FakePort> at) : ibv_device{}, ports(std::move(at)) {
    set_name(name, called);
    set_name(dev_name, "uverbs_of_" + called);
    node_type = IBV_NODE_CA;
    transport_type = IBV_TRANSPORT_IB;
  }
  std::vector<FakePort> ports;
  bool listed = true;
  bool broken = false;
  std::atomic<bool> connects_blocked{false};
  unsigned polls = 0;
  unsigned contexts = 0;
  unsigned unacknowledged = 0;
  std::deque<ibv_async_event> events{};
  std::set<int> event_fds{};
};

struct FakeContext {
  verbs_context extended{};
  FakeAdapter* adapter = nullptr;
};

inline FakeAdapter& adapter_of(ibv_context* context) { return *static_cast<FakeAdapter*>(context->device); }

struct FakeCq : ibv_cq_ex {
  struct Entry {
    ibv_wc completion;
    std::uint64_t time;  // from which on a poll finds it
  };
  FakeCq() : ibv_cq_ex{} {}
  std::deque<Entry> entries{};
  bool armed = false;
  unsigned delivered = 0;
  unsigned acknowledged = 0;

  bool ready() const { return !entries.empty() && entries.front().time <= now_ns(); }
  // An event may come before its completion: who finds none asks again.
  void push(const ibv_wc& completion, std::uint64_t time) {
    entries.push_back({completion, time});
    if (armed) tell();
  }
  void arm() {
    armed = true;
    if (!entries.empty() && !ready()) tell();
  }

 private:
  void tell() {
    ::eventfd_write(channel->fd, 1);
    armed = false;
  }
};

inline FakeCq* cq_of(ibv_cq* cq) { return static_cast<FakeCq*>(reinterpret_cast<ibv_cq_ex*>(cq)); }

struct FakeQp : ibv_qp {
  FakeQp() : ibv_qp{} {}
  std::shared_ptr<FakeQpRecord> record{};
  struct Receive {
    std::uint64_t id;
    ibv_sge element;
  };
  std::deque<Receive> receives{};

  ibv_qp_attr& settings() const { return record->attributes; }
  bool may(unsigned access) const { return (settings().qp_access_flags & access) != 0; }
};

struct FakeChannel : ibv_comp_channel {
  FakeChannel() : ibv_comp_channel{} {}
  std::vector<FakeCq*> queues{};
};

inline std::vector<FakeQp*> all_qps;  // that exist; with the fabric's mutex held

}  // namespace rdma_exporter::test
