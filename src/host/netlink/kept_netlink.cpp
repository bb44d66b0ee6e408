// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/kept_netlink.h"

#include <utility>

#include "host/host.h"

namespace rdma_exporter::host {
namespace {

// A socket for one request. Without keep() it is closed, because an exception may leave answers unread.
class Borrowed {
 public:
  Borrowed(Host& host, NetlinkProtocol protocol)
      : host_(host),
        protocol_(protocol),
        netlink_(host.netlink_sockets.take(protocol)),
        within_budget_(netlink_ || host.open_files.take()) {
    if (!netlink_) netlink_ = host_.make_netlink(protocol_);
  }
  ~Borrowed() {
    if (within_budget_) host_.open_files.give_back();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  Netlink& operator*() { return *netlink_; }

  void keep() {
    if (!within_budget_ || host_.open_files.over()) return;
    host_.netlink_sockets.give_back(protocol_, std::move(netlink_));
    within_budget_ = false;
  }

 private:
  Host& host_;
  const NetlinkProtocol protocol_;
  std::unique_ptr<Netlink> netlink_;
  bool within_budget_;
};

class KeptNetlink : public Netlink {
 public:
  KeptNetlink(Host& host, NetlinkProtocol protocol) : host_(host), protocol_(protocol) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t flags, Bytes payload,
                             const OnMessage& on_message) override {
    return use([&](Netlink& netlink) { return netlink.request(type, flags, payload, on_message); });
  }
  core::Result<void> dump(std::uint16_t type, Bytes payload, const OnPart& on_part) override {
    return use([&](Netlink& netlink) { return netlink.dump(type, payload, on_part); });
  }

 private:
  template <typename Talk>
  core::Result<void> use(const Talk& talk) {
    Borrowed socket(host_, protocol_);
    auto result = talk(*socket);
    if (!result) host_.open_files.ran_out(result.error());
    socket.keep();
    return result;
  }

  Host& host_;
  const NetlinkProtocol protocol_;
};

}  // namespace

std::unique_ptr<Netlink> kept_netlink(Host& host, NetlinkProtocol protocol) {
  if (!host.speaks(protocol)) return nullptr;
  return std::make_unique<KeptNetlink>(host, protocol);
}

}  // namespace rdma_exporter::host
