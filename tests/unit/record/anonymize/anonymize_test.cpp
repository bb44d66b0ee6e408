// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/anonymize/anonymize.h"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "core/text/cgroup_owner.h"
#include "host/module/module_eeprom.h"
#include "host/netlink/address_message.h"
#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/rewrite.h"
#include "record/anonymize/anonymous_text.h"
#include "record/anonymize/pseudonyms.h"
#include "record/question.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/synthetic_module.h"

namespace rdma_exporter::record {
namespace {

std::string text(std::string_view real, Pseudonyms& pseudonyms) {
  return anonymous_text(real, "gpu17", pseudonyms);
}

// One NIC in all the forms in which sysfs shows it (tests/recordings, and mlx5's way to make a GUID of a
// MAC).
TEST(Anonymize, MapsOneAddressToOneInEveryForm) {
  Pseudonyms pseudonyms;
  EXPECT_EQ(text("b8:59:9f:12:34:56", pseudonyms), "b8:59:9f:00:00:01");
  EXPECT_EQ(text("b859:9f03:0012:3456", pseudonyms), "b859:9f03:0000:0001");
  EXPECT_EQ(text("ba59:9fff:fe12:3456", pseudonyms), "ba59:9fff:fe00:0001");
  EXPECT_EQ(text("fe80:0000:0000:0000:ba59:9fff:fe12:3456", pseudonyms),
            "fe80:0000:0000:0000:ba59:9fff:fe00:0001");
  EXPECT_EQ(text("80:00:02:08:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:12:34:56", pseudonyms),
            "80:00:02:08:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:00:00:01");
  EXPECT_EQ(text("b8:59:9f:12:34:57", pseudonyms), "b8:59:9f:00:00:02");
}

TEST(Anonymize, MapsAnAddressInCapitalLetters) {
  Pseudonyms pseudonyms;
  EXPECT_EQ(text("B8:59:9F:12:34:56 B859:9F03:0012:3456", pseudonyms),
            "b8:59:9f:00:00:01 b859:9f03:0000:0001");
}

TEST(Anonymize, MapsTheSubnetOfASite) {
  Pseudonyms pseudonyms;
  EXPECT_EQ(text("fec0:0000:0000:0a01:ba59:9fff:fe12:3456", pseudonyms),
            "2001:0db8:0000:0001:ba59:9fff:fe00:0001");
}

TEST(Anonymize, MapsIpv4InGidsAndInTexts) {
  Pseudonyms pseudonyms;
  EXPECT_EQ(text("0000:0000:0000:0000:0000:ffff:0a09:0001", pseudonyms),
            "0000:0000:0000:0000:0000:ffff:c612:0001");
  EXPECT_EQ(text("peer=10.9.0.1, gpu17 and 10.9.0.2.", pseudonyms),
            "peer=198.18.0.1, host-1 and 198.18.0.2.");
  EXPECT_EQ(text("127.0.0.1 0.0.0.0", pseudonyms), "127.0.0.1 0.0.0.0");
}

TEST(Anonymize, KnowsTheHostByAllItsNames) {
  Pseudonyms pseudonyms;
  const auto changed = [&](std::string_view real) {
    return anonymous_text(real, "lab.example.org", pseudonyms);
  };
  EXPECT_EQ(changed("lab.example.org"), "host-1");
  EXPECT_EQ(changed("lab mlx5_0, lab-ib0"), "host-1 mlx5_0, host-1-ib0");
  EXPECT_EQ(changed("labnic collab"), "labnic collab") << "another word";
}

TEST(Anonymize, LeavesWhatIsNoAddress) {
  Pseudonyms pseudonyms;
  for (const char* same :
       {"0000:0000:0000:0000:0000:0000:0000:0000\n", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "0000:10:00.0",
        "4: ACTIVE\n", "10 Gb/sec (1X FDR10)\n", "0xffff", "28.39.1002", "rocep59s0f0", "eth0:1", "12:34:56",
        "../../../bus/pci/drivers/mlx5_core", " 24:  1  0  IO-APIC   5-edge  mlx5_comp0@pci:0000:05:00.0\n"})
    EXPECT_EQ(text(same, pseudonyms), same);
}

TEST(Anonymize, KeepsTheKindOfAnOwner) {
  const std::string pod =
      "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
      "pod40934a46_d409_4f4a_bb8b_1ec0b0436320.slice/cri-containerd-"
      "afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783.scope\n";
  const std::array cases{
      pod,
      std::string("0::/kubepods/besteffort/pod40934a46-d409-4f4a-bb8b-1ec0b0436320/"
                  "afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783\n"),
      std::string("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n"),
      std::string("1:name=systemd:/slurm/uid_1000/job_77/step_0\n"),
      std::string(
          "0::/system.slice/docker-afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783.scope\n"),
      std::string("0::/system.slice/secret-project.service\n")};
  Pseudonyms pseudonyms;
  for (const std::string& real : cases) {
    const std::string other = anonymous_cgroup(real, pseudonyms);
    const auto before = core::parse_cgroup_owner(real);
    const auto after = core::parse_cgroup_owner(other);
    ASSERT_TRUE(before && after) << other;
    EXPECT_EQ(after->kind, before->kind) << other;
    EXPECT_NE(after->name, before->name) << other;
    EXPECT_EQ(after->container.size(), before->container.size()) << other;
    for (const char* secret : {"40934a46", "afc114c6", "4711", "77", "1000", "secret", "project"})
      EXPECT_EQ(other.find(secret), std::string::npos) << other;
    EXPECT_EQ(anonymous_cgroup(real, pseudonyms), other) << "the same becomes the same";
  }
}

// The check of GIDs compares the two.
TEST(Anonymize, MapsAnAddressOfAnInterfaceAsItsGid) {
  const std::string gid = "0000:0000:0000:0000:0000:ffff:0a08:0001";
  const std::string question =
      "netlink route " + std::to_string(host::kGetAddresses) + " 768 0000000000000000";
  const auto message = rdma_exporter::test::recorded_file("address/ipv4.bin");
  const Snapshot snapshot{{question, {{std::string(chars(message))}}}, {"sysfs read gids/1", {{gid + "\n"}}}};
  Pseudonyms pseudonyms;
  const Snapshot other = anonymous(snapshot, "gpu17", pseudonyms);
  const auto address = host::parse_address(bytes(other.at(question).parts.front()));
  ASSERT_TRUE(address && *address);
  EXPECT_EQ((*address)->text, "198.18.0.1");
  EXPECT_EQ((*address)->gid + "\n", other.at("sysfs read gids/1").parts.front());
}

TEST(Anonymize, MapsAnIpv6AddressOfAnInterfaceAsItsGid) {
  const auto message = rdma_exporter::test::recorded_file("address/ipv6_link_local.bin");
  const std::string gid = (*host::parse_address(message))->gid;
  const std::string question =
      "netlink route " + std::to_string(host::kGetAddresses) + " 768 0000000000000000";
  const Snapshot snapshot{{question, {{std::string(chars(message))}}}, {"sysfs read gids/0", {{gid}}}};
  Pseudonyms pseudonyms;
  const Snapshot other = anonymous(snapshot, "gpu17", pseudonyms);
  const auto address = host::parse_address(bytes(other.at(question).parts.front()));
  ASSERT_TRUE(address && *address);
  EXPECT_NE((*address)->gid, gid);
  EXPECT_EQ((*address)->gid, other.at("sysfs read gids/0").parts.front());
}

// The GUIDs in an answer of RDMA netlink as sysfs prints them, and the addresses of its connections.
struct Found {
  std::vector<std::string> guids;
  std::vector<std::string> addresses;
};
Found identities_in(host::Bytes message) {
  Found found;
  const auto guid = [&](std::span<std::byte, 8> value) {
    std::vector<std::byte> big_endian(value.rbegin(), value.rend());
    std::string digits = to_hex(chars(big_endian));
    for (const std::size_t colon : {12U, 8U, 4U}) digits.insert(colon, ":");
    found.guids.push_back(digits);
  };
  const auto address = [&](std::span<std::byte> value) { found.addresses.push_back(to_hex(chars(value))); };
  host::nldev::with_identities(message, {guid, [](std::span<std::byte, 8>) {}, address});
  return found;
}

// A recorded device with the GUID of a ConnectX: Soft-RoCE's own looks like a pseudonym.
TEST(Anonymize, MapsAGuidOfNetlinkAsThatOfSysfs) {
  std::string guid;
  ASSERT_TRUE(from_hex("b8599f0300123456", guid));
  const auto to_hardware = [&](std::span<std::byte, 8> value) {
    std::memcpy(value.data(), guid.data(), value.size());
    std::reverse(value.begin(), value.end());  // the byte order of the host
  };
  const auto message = host::nldev::with_identities(
      rdma_exporter::test::recorded_message("get_0.bin"),
      {to_hardware, [](std::span<std::byte, 8>) {}, [](std::span<std::byte>) {}});
  ASSERT_EQ(identities_in(message).guids.front(), "b859:9f03:0012:3456");
  const Snapshot snapshot{{"netlink rdma 5121 768 ", {{std::string(chars(message))}}},
                          {"sysfs read class/infiniband/rxe0/node_guid", {{"b859:9f03:0012:3456"}}}};
  Pseudonyms pseudonyms;
  const Snapshot other = anonymous(snapshot, "gpu17", pseudonyms);
  const auto changed = identities_in(bytes(other.at("netlink rdma 5121 768 ").parts.front())).guids;
  EXPECT_EQ(changed.front(), "b859:9f03:0000:0001");
  EXPECT_EQ(other.at("sysfs read class/infiniband/rxe0/node_guid").parts.front(), changed.front());
}

// A recorded connection with the address of one over InfiniBand (include/rdma/ib.h struct sockaddr_ib).
TEST(Anonymize, MapsTheAddressOfAnInfiniBandConnection) {
  std::string gid;
  ASSERT_TRUE(from_hex("fe80000000000000b8599f0300123456", gid));
  const auto to_infiniband = [&](std::span<std::byte> address) {
    constexpr sa_family_t kFamily = 27;  // AF_IB
    std::memcpy(address.data(), &kFamily, sizeof kFamily);
    std::memcpy(&address[8], gid.data(), gid.size());
  };
  const auto keep = [](std::span<std::byte, 8>) {};
  const auto message = host::nldev::with_identities(rdma_exporter::test::recorded_message("res_cm_id_0.bin"),
                                                    {keep, keep, to_infiniband});
  const std::string question = "netlink rdma 5130 768 ";
  Pseudonyms pseudonyms;
  const Snapshot other = anonymous({{question, {{std::string(chars(message))}}}}, "gpu17", pseudonyms);
  const auto addresses = identities_in(bytes(other.at(question).parts.front())).addresses;
  ASSERT_FALSE(addresses.empty());
  for (const std::string& address : addresses)
    EXPECT_EQ(address.substr(16, 32), "fe80000000000000b8599f0300000001");
}

TEST(Anonymize, ChangesNamesAndKeepsCounters) {
  const Snapshot snapshot{
      {"procfs read 12/comm", {{"train.py\n"}}},
      {"procfs read 13/comm", {{"train.py\n"}}},
      {"sysfs read class/infiniband/mlx5_0/fw_ver", {{"218.0.165.1\n"}}},
      {"sysfs read class/infiniband/mlx5_0/node_desc", {{"gpu17 mlx5_0\n"}}},
      {"sysfs read class/net/eth0/phys_switch_id", {{"56341200039f59b8\n"}}},
      {"sysfs read class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", {{"123456789\n"}}},
      {"sysfs read a/empty", {{"\n"}}},
      {"sysfs read a/failed", {{}, "EIO"}}};
  Pseudonyms pseudonyms;
  Snapshot other = anonymous(snapshot, "gpu17", pseudonyms);
  ASSERT_EQ(other.size(), snapshot.size());
  const auto value = [&](const std::string& question) { return other.at(question).parts.front(); };
  EXPECT_EQ(value("procfs read 12/comm"), "process-1\n");
  EXPECT_EQ(value("procfs read 13/comm"), "process-1\n");
  EXPECT_EQ(value("sysfs read class/infiniband/mlx5_0/fw_ver"), "218.0.165.1\n");
  EXPECT_EQ(value("sysfs read class/infiniband/mlx5_0/node_desc"), "node-1\n");
  EXPECT_EQ(value("sysfs read class/net/eth0/phys_switch_id"), "0000000000000001\n");
  EXPECT_EQ(value("sysfs read class/infiniband/mlx5_0/ports/1/counters/port_rcv_data"), "123456789\n");
  EXPECT_EQ(value("sysfs read a/empty"), "\n");
  EXPECT_EQ(other.at("sysfs read a/failed").error, "EIO");
}

// Synthetic: the answer around the bytes as eeprom_fill_reply() of net/ethtool/eeprom.c writes it.
TEST(Anonymize, GivesModulesOtherSerialNumbersAndLeavesTheRest) {
  const host::ModuleRange range{.page = 0, .offset = 128, .length = 128};
  auto module = test::qsfp28_sr4();
  const genlmsghdr header{ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, 1, 0};
  std::string message(reinterpret_cast<const char*>(&header), sizeof header);
  std::vector<std::byte> data;
  host::append_attr(data, ETHTOOL_A_MODULE_EEPROM_DATA, module.read(range).value());
  message += chars(data);
  const std::string question =
      netlink_question(host::NetlinkProtocol::generic, 0x16, 0, host::module_eeprom::request("eth0", range));
  Pseudonyms pseudonyms;
  const Snapshot snapshot = anonymous({{question, {{message}, {}}}}, "gpu17", pseudonyms);
  const std::string changed = snapshot.at(question).parts.at(0);
  EXPECT_EQ(changed.find("EX123456"), std::string::npos);
  std::string expected = message;
  expected.replace(expected.find("EX123456        "), 16, "module-1        ");
  EXPECT_EQ(changed, expected);
}

}  // namespace
}  // namespace rdma_exporter::record
