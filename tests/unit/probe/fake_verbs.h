// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// Stands in for libibverbs in the binary that it is linked into: adapters in memory, all on one network. It
// keeps to what the manual pages of the library promise and notes who does not.
namespace rdma_exporter::test {

struct FakeGid {
  std::string address;
  std::uint32_t index = 0;
  std::uint32_t type = IBV_GID_TYPE_ROCE_V2;
  std::uint32_t netdev = 0;
};

struct FakePort {
  ibv_port_state state = IBV_PORT_ACTIVE;
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint16_t lid = 0;
  std::uint8_t flags = 0;
  std::vector<FakeGid> gids{};
};

/// A queue pair as it was moved, one entry when it is made and kept after it is gone.
struct FakeQpRecord {
  std::string device;
  ibv_qp_attr attributes{};  ///< of all moves together
  ibv_qp_init_attr made{};
  const ibv_pd* domain = nullptr;
  std::uint32_t number = 0;
  bool exists = true;
};

class FakeAdapter;

/// The network and its adapters. One at a time; the library's functions use it.
class FakeFabric {
 public:
  FakeFabric();
  ~FakeFabric();
  FakeFabric(const FakeFabric&) = delete;
  FakeFabric& operator=(const FakeFabric&) = delete;

  /// With `ports`; a port without a GID gets none.
  void add(const std::string& name, std::vector<FakePort> ports);
  /// Changes a port of an adapter, without an event.
  void set_port(const std::string& name, std::uint8_t port, const FakePort& settings);
  /// Takes it off the list, as when its driver is unloaded.
  void remove(const std::string& name);
  /// Sends an asynchronous event.
  void event(const std::string& name, ibv_event_type type, std::uint8_t port = 0);
  /// Connecting a queue pair of it waits, like for a neighbour that does not answer, until this is called
  /// with false.
  void block_connects(const std::string& name, bool block);
  /// Polling it fails from now on.
  void break_adapter(const std::string& name);
  /// Operations that are posted end with this status; IBV_WC_SUCCESS: as the network has it.
  void fail_with(ibv_wc_status status);
  /// SENDs are acknowledged and lost on the way to the far process.
  void lose_sends(bool lost);
  /// From the post of an operation to its completion.
  void set_round_trip(std::chrono::nanoseconds time);
  /// Its folder in sysfs.
  void set_folder(const std::string& name, const std::string& folder);
  /// A clock whose ticks stamp completions, in kHz; 0: none.
  void set_clock(std::uint64_t khz);

  std::vector<FakeQpRecord> queue_pairs() const;  ///< all that ever were
  unsigned polls(const std::string& name) const;
  unsigned open_contexts() const;
  std::string offences() const;  ///< what the library's user did wrong; empty: nothing

 private:
  friend struct FakeLibrary;
  mutable std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<FakeAdapter>> adapters_;
  std::vector<std::shared_ptr<FakeQpRecord>> records_;
  std::string offences_;
  ibv_wc_status forced_ = IBV_WC_SUCCESS;
  bool sends_lost_ = false;
  std::uint64_t clock_khz_ = 0;
  std::uint64_t round_trip_ns_ = 20'000;
  std::uint32_t next_qp_ = 0x100;
};

}  // namespace rdma_exporter::test
