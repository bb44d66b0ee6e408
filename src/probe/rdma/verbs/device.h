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
#include "core/text/number_list.h"
#include "probe/channel/frame.h"
#include "probe/rdma/gid_choice.h"
#include "probe/rdma/verbs/adapter_clock.h"

struct ibv_context;
struct ibv_pd;

namespace rdma_exporter::probe {

struct PortFacts {
  LinkLayer link = LinkLayer::ethernet;
  bool active = false;
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;       ///< active one, as enum ibv_mtu
  bool grh_required = false;  ///< packets need a global route header, also within the subnet
};

/// An event of a device or port (ibv_get_async_event(3)), as far as it concerns a session.
struct DeviceEvent {
  enum class Kind : unsigned char {
    port_up,
    port_down,
    address,  ///< GID, P_Key or subnet manager changed: check the local address
    lid,      ///< LID changed: connections still use the old one
    fatal,    ///< the device is being removed, or its completion queue is dead: release everything
    other,    ///< of a queue pair; its completions report the same
  };
  Kind kind;
  std::string_view name;  ///< "PORT_ERR", static text
  std::uint8_t port = 0;  ///< 0: not about a single port
};

/// An open device. Each role has a protection domain of its own, so that nothing of a prober is reachable
/// through a responder's queue pair. While this object exists, the kernel does not release the device.
/// Thread-safe except for next_event(). Calls may block like any firmware command.
class VerbsDevice {
 public:
  /// ENODEV: no such device, or no user space driver for it. EACCES, ENOENT: no access to /dev/infiniband.
  static core::Result<std::shared_ptr<VerbsDevice>> open(const std::string& name);
  ~VerbsDevice();
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;

  const std::string& name() const { return name_; }
  core::Result<PortFacts> port(std::uint8_t port) const;
  /// For iWARP, whose GIDs are not addresses, these are the port's IP addresses.
  core::Result<std::vector<GidEntry>> gids(std::uint8_t port) const;
  unsigned ports() const { return ports_; }
  /// The clock for completion timestamps; nullopt if there is no usable one. Blocks.
  std::optional<AdapterClock> clock() const;
  /// "0000:0c:00.0", as in sysfs; empty if the device is not on the PCI bus.
  const std::string& pci_address() const { return pci_address_; }
  /// Processors of its NUMA node; empty: not known.
  core::NumberList local_cpus() const;
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
  std::string pci_address_;
  ibv_context* context_;
  unsigned ports_ = 1;
  ibv_pd* requester_ = nullptr;
  ibv_pd* responder_ = nullptr;
};

/// Names of the devices that libibverbs can open, in order.
std::vector<std::string> verbs_device_names();

}  // namespace rdma_exporter::probe
