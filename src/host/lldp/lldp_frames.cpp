// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/lldp/lldp_frames.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "host/fs/fd.h"
#include "host/lldp/lldp.h"

namespace rdma_exporter::host {
namespace {

using core::os_error;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// 802.1AB, table 7-1.
constexpr std::array<unsigned char, 6> kNearestBridge{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
// An LLDP frame fits into an Ethernet frame; the rest of a longer one is cut off, so that it does not parse.
constexpr std::size_t kLongestFrame = 2048;
#ifndef PACKET_IGNORE_OUTGOING
constexpr int PACKET_IGNORE_OUTGOING = 23;
#endif

nanoseconds as_duration(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// The kernel's timestamps are wall-clock times.
nanoseconds wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return as_duration(now);
}

bool set(const Fd& fd, int level, int option, int value) {
  return ::setsockopt(fd.get(), level, option, &value, sizeof value) == 0;
}

class Socket : public LldpFrames {
 public:
  explicit Socket(Fd fd) : fd_(std::move(fd)) {}

  core::Result<void> receive(const OnFrame& on_frame) override {
    const nanoseconds now = wall_clock();
    for (std::size_t i = 0; i < kMaxFrames; ++i) {
      std::array<std::byte, kLongestFrame> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
      sockaddr_ll from{};
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control{};
      iovec space{buffer.data(), buffer.size()};
      msghdr header{};
      header.msg_name = &from;
      header.msg_namelen = sizeof from;
      header.msg_iov = &space;
      header.msg_iovlen = 1;
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      const ssize_t size = ::recvmsg(fd_.get(), &header, MSG_DONTWAIT);
      if (size < 0 && errno == EAGAIN) return {};
      if (size < 0 && (errno == EINTR || errno == ENETDOWN)) continue;
      if (size < 0) return os_error(errno);
      // PACKET_OTHERHOST: of a VLAN that this host does not have, or received by a promiscuous interface.
      if (from.sll_pkttype == PACKET_OTHERHOST || from.sll_pkttype == PACKET_OUTGOING) continue;
      on_frame({static_cast<std::uint32_t>(from.sll_ifindex), age(header, now),
                std::span(buffer).first(static_cast<std::size_t>(size))});
    }
    return {};
  }

  core::Result<void> listen_on(std::uint32_t interface) override {
    packet_mreq group{};
    group.mr_ifindex = static_cast<int>(interface);
    group.mr_type = PACKET_MR_MULTICAST;
    group.mr_alen = kNearestBridge.size();
    std::copy(kNearestBridge.begin(), kNearestBridge.end(), group.mr_address);
    if (::setsockopt(fd_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof group) != 0)
      return os_error(errno);
    return {};
  }

 private:
  // If the clock was set back, the age would be negative.
  static milliseconds age(msghdr& header, nanoseconds now) {
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec taken{};
      std::memcpy(&taken, CMSG_DATA(item), sizeof taken);
      return std::max(std::chrono::duration_cast<milliseconds>(now - as_duration(taken)), milliseconds(0));
    }
    return milliseconds(0);
  }

  const Fd fd_;
};

}  // namespace

core::Result<std::unique_ptr<LldpFrames>> open_lldp_frames() {
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(kLldpEthertype)));
  if (!fd.valid()) return os_error(errno);
  // For a bond, the index of the member, not of the bond.
  if (!set(fd, SOL_PACKET, PACKET_ORIGDEV, 1) || !set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1))
    return os_error(errno);
  (void)set(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);  // Linux 4.20; receive() looks as well
  return std::make_unique<Socket>(std::move(fd));
}

}  // namespace rdma_exporter::host
