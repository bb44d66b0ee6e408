// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A RoCE port with a network interface whose ethtool and DCB answers were recorded
// (tests/unit/data/ethernet).
#pragma once

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>

#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/dcb.h"
#include "host/netlink/generic_netlink.h"
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {

class NetdevFixture : public CollectorFixture {
 protected:
  explicit NetdevFixture(const CollectorSpec& spec) : CollectorFixture(spec) {
    generic_script_->respond = [this](std::uint16_t type, host::Bytes payload) {
      if (type == host::generic_netlink::kControl) return answer("getfamily");
      EXPECT_EQ(type, kFamily);
      const std::string& operation = kOperations.at(std::to_integer<int>(payload[0]));
      last_[operation].assign(payload.begin(), payload.end());
      return answer(is_plain_link_state(payload) ? operation + "_without_stats" : operation);
    };
    route_script_->respond = [this](std::uint16_t type, host::Bytes) {
      EXPECT_EQ(type, host::dcb::kGet);
      return answer("dcb_ieee_get");
    };
  }

  /// An RDMA device whose port 1 has the interface eth0; answers are those of `recording`.
  void add_netdev(const std::string& driver, const std::string& recording) {
    add_port("d");
    tree_.write(device_path("d") + "parent", "eth0\n");
    tree_.write("class/net/eth0/mtu", "4200\n");
    tree_.mkdir("devices/pci0000:00/0000:3b:00.0");
    tree_.link("../../../devices/pci0000:00/0000:3b:00.0", "class/net/eth0/device");
    tree_.link("../../../bus/pci/drivers/" + driver, "devices/pci0000:00/0000:3b:00.0/driver");
    recording_ = recording;
  }

  std::string recording_;                         ///< folder below tests/unit/data/ethernet
  std::map<std::string, int> refusals_;           ///< operation -> errno, before what was recorded
  std::map<std::string, std::string> other_;      ///< operation -> another folder
  std::map<std::string, test::Message> mutated_;  ///< operation -> its answer
  std::map<std::string, int> asked_;              ///< operation -> how often
  std::map<std::string, test::Message> last_;     ///< operation -> its last request

 private:
  using Answer = std::optional<core::Result<test::Message>>;

  // enum of ETHTOOL_MSG_*_GET in include/uapi/linux/ethtool_netlink.h.
  static inline const std::map<int, std::string> kOperations{
      {4, "linkmodes_get"}, {6, "linkstate_get"}, {15, "rings_get"}, {21, "pause_get"},
      {29, "fec_get"},      {32, "stats_get"},    {34, "module_get"}};
  static constexpr std::uint16_t kFamily = 0x16;  // of getfamily.bin

  static bool is_plain_link_state(host::Bytes payload) {
    using namespace host::genl_ethtool;
    const auto plain = request(Query::link_state, "eth0", false);
    return std::equal(payload.begin(), payload.end(), plain.begin(), plain.end());
  }

  Answer answer(const std::string& operation) {
    ++asked_[operation];
    if (const auto refusal = refusals_.find(operation); refusal != refusals_.end())
      return core::os_error(refusal->second);
    if (const auto mutated = mutated_.find(operation); mutated != mutated_.end()) return mutated->second;
    if (operation == "getfamily") return test::recorded_file("ethernet/getfamily.bin");
    const auto other = other_.find(operation);
    const std::string folder = other == other_.end() ? recording_ : other->second;
    const std::string path = "ethernet/" + folder + "/" + operation;
    if (!std::filesystem::exists(SOURCE_DIR "/tests/unit/data/" + path + ".errno"))
      return test::recorded_file(path + ".bin");
    const test::Message name = test::recorded_file(path + ".errno");
    const std::string text(reinterpret_cast<const char*>(name.data()), name.size());
    if (text == "ENOTSUP\n") return core::os_error(EOPNOTSUPP);
    return core::os_error(text == "ENODEV\n" ? ENODEV : EINVAL);
  }
};

}  // namespace rdma_exporter::collectors
