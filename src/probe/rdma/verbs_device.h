// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "probe/channel/frame.h"
#include "probe/rdma/adapter_clock.h"
#include "probe/rdma/gid_choice.h"

struct ibv_context;
struct ibv_pd;

namespace rdma_exporter::probe {

struct PortFacts {
  LinkLayer link = LinkLayer::ethernet;
  bool active = false;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;  ///< active one, as enum ibv_mtu
};

/// What happened to a device or a port (ibv_get_async_event(3)), as far as a session has to know.
struct DeviceEvent {
  enum class Kind : unsigned char {
    port_up,
    port_down,
    address,  ///< GID, LID, P_Key or subnet manager changed: look whether the own address still stands
    fatal,    ///< the device is going away, or its completion queue is dead: give everything back
    other,    ///< of a queue pair; completions tell the same
  };
  Kind kind;
  std::string_view name;  ///< "PORT_ERR", static text
  std::uint8_t port = 0;  ///< 0: not of one port
};

/// An open device. Protection domains are kept apart by role, so that nothing of a prober is reachable
/// through a responder's queue pair. While it lives, the kernel does not let the device go. Thread-safe
/// except for next_event(); calls may block like any firmware command.
class VerbsDevice {
 public:
  /// ENODEV: no such device, or no user space driver for it. EACCES, ENOENT: no access to /dev/infiniband.
  static core::Result<std::shared_ptr<VerbsDevice>> open(const std::string& name);
  ~VerbsDevice();
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;

  const std::string& name() const { return name_; }
  core::Result<PortFacts> port(std::uint8_t port) const;
  /// Of iWARP, whose GIDs are no addresses: the port's IP addresses in their place.
  core::Result<std::vector<GidEntry>> gids(std::uint8_t port) const;
  unsigned ports() const { return ports_; }
  /// That completions can be stamped with; nullopt: none that is of use. Blocks.
  std::optional<AdapterClock> clock() const;
  bool iwarp() const;  ///< queue pairs cannot be moved by hand there

  int event_fd() const;  ///< readable when there is an event; not blocking
  /// nullopt: no more events.
  std::optional<DeviceEvent> next_event();

  ibv_context* context() const { return context_; }
  ibv_pd* requester_domain() const { return requester_; }
  ibv_pd* responder_domain() const { return responder_; }

 private:
  core::Result<std::vector<GidEntry>> iwarp_addresses(std::uint8_t port) const;
  VerbsDevice(std::string name, ibv_context* context) : name_(std::move(name)), context_(context) {}

  std::string name_;
  ibv_context* context_;
  unsigned ports_ = 1;
  ibv_pd* requester_ = nullptr;
  ibv_pd* responder_ = nullptr;
};

/// Names of the devices that libibverbs can open, in order.
std::vector<std::string> verbs_device_names();

}  // namespace rdma_exporter::probe
