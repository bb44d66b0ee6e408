// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/kept_netlink.h"

#include <utility>

namespace rdma_exporter::host {
namespace {

class KeptNetlink : public Netlink {
 public:
  KeptNetlink(Host& host, NetlinkProtocol protocol, std::unique_ptr<Netlink> first)
      : host_(host), protocol_(protocol), netlink_(std::move(first)) {}
  ~KeptNetlink() override { give_back(); }
  KeptNetlink(const KeptNetlink&) = delete;
  KeptNetlink& operator=(const KeptNetlink&) = delete;

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
    if (host_.open_files.over()) give_back();
    if (!kept_) kept_ = host_.open_files.take();
    if (!netlink_) netlink_ = host_.make_netlink(protocol_);
    auto result = talk(*netlink_);
    if (!result) host_.open_files.ran_out(result.error());
    if (!kept_) netlink_.reset();
    return result;
  }
  void give_back() {
    if (std::exchange(kept_, false)) host_.open_files.give_back();
  }

  Host& host_;
  const NetlinkProtocol protocol_;
  std::unique_ptr<Netlink> netlink_;  ///< has a socket from its first request on
  bool kept_ = false;
};

}  // namespace

std::unique_ptr<Netlink> kept_netlink(Host& host, NetlinkProtocol protocol) {
  auto first = host.make_netlink(protocol);
  if (!first) return nullptr;
  return std::make_unique<KeptNetlink>(host, protocol, std::move(first));
}

}  // namespace rdma_exporter::host
