// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/netlink/ORIGIN.md). Malformed answers are mutations of
// these.
#include "host/netlink/nldev/nldev.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "tests/unit/host/recorded_events.h"

namespace rdma_exporter::host::nldev {
namespace {

std::vector<std::byte> recorded(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/tests/unit/data/netlink/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  std::vector<std::byte> bytes;
  for (auto it = std::istreambuf_iterator<char>(file); it != std::istreambuf_iterator<char>(); ++it)
    bytes.push_back(static_cast<std::byte>(*it));
  return bytes;
}

std::map<std::string, std::uint64_t> counters(Bytes bytes) {
  std::map<std::string, std::uint64_t> all;
  const auto parsed =
      parse_counters(bytes, [&](std::string_view name, std::uint64_t value) { all.emplace(name, value); });
  EXPECT_TRUE(parsed.has_value());
  return all;
}

TEST(ParseDevice, ReadsIndexNameAndProtocol) {
  const auto device = parse_device(recorded("get_1.bin"));
  ASSERT_TRUE(device.has_value());
  EXPECT_EQ(device->index, 1U);
  EXPECT_EQ(device->name, "rxe1");
  EXPECT_EQ(device->protocol, "roce");
}

TEST(ParseDevice, NeedsIndexAndName) {
  EXPECT_FALSE(parse_device({}).has_value());
  const auto bytes = recorded("get_0.bin");
  EXPECT_FALSE(parse_device(Bytes(bytes).first(8)).has_value());  // the index alone
}

TEST(ParsePort, ReadsStateAndNetdev) {
  const auto port = parse_port(recorded("port_get_0.bin"));
  ASSERT_TRUE(port.has_value());
  EXPECT_EQ(port->state, 4U);
  EXPECT_EQ(port->physical_state, 5U);
  EXPECT_EQ(port->netdev, "ve0");
}

TEST(ParseCounters, ReadsAllCountersOfThePort) {
  const auto all = counters(recorded("stat_get_0.bin"));
  EXPECT_EQ(all.size(), 15U);
  EXPECT_EQ(all.at("sent_pkts"), 500U);
  EXPECT_EQ(all.at("rcvd_pkts"), 500U);
  EXPECT_TRUE(all.contains("rdma_recvs"));
}

TEST(ParseCounters, AcceptsAnAnswerWithoutCounters) {
  EXPECT_TRUE(counters(recorded("port_get_0.bin")).empty());
}

TEST(ParseMonitorSupport, TellsKernelsApart) {
  EXPECT_EQ(parse_monitor_support(test::recorded_event("sys_get_monitor")).value(), true);
  EXPECT_EQ(parse_monitor_support(test::recorded_event("sys_get")).value(), false);
  auto off = test::recorded_event("sys_get_monitor");
  ASSERT_EQ(off[20], std::byte{1});  // of the third attribute, MONITOR_MODE
  off[20] = std::byte{0};
  EXPECT_EQ(parse_monitor_support(off).value(), false);
  auto cut = test::recorded_event("sys_get_monitor");
  cut.resize(cut.size() - 5);
  EXPECT_FALSE(parse_monitor_support(cut).has_value());
}

TEST(ParseMonitor, CountsTheMessagesOfADatagram) {
  auto bytes = test::recorded_event("monitor_register");
  EXPECT_EQ(parse_monitor(bytes).value(), 1U);
  const auto more = test::recorded_event("monitor_attach");
  bytes.insert(bytes.end(), more.begin(), more.end());
  EXPECT_EQ(parse_monitor(bytes).value(), 2U);
}

TEST(ParseMonitor, PassesOverOtherMessagesAndRefusesMalformedOnes) {
  auto other = test::recorded_event("monitor_register");
  other[4] = std::byte{1};  // GET
  EXPECT_EQ(parse_monitor(other).value(), 0U);
  const auto bytes = test::recorded_event("monitor_attach");
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_FALSE(parse_monitor(Bytes(bytes).first(size)).has_value()) << size;
  auto without_type = bytes;
  ASSERT_EQ(without_type[bytes.size() - 6], std::byte{102});  // the last attribute: EVENT_TYPE
  without_type[bytes.size() - 6] = std::byte{250};
  EXPECT_FALSE(parse_monitor(without_type).has_value());
}

// Cut anywhere: no read past the end (the address sanitizer watches), and never a success with a counter lost
// in the middle of the table.
TEST(Parsers, SurviveTruncationAtEveryByte) {
  for (const char* name : {"get_0.bin", "port_get_2.bin", "stat_get_0.bin"}) {
    const auto bytes = recorded(name);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      (void)parse_device(cut);
      (void)parse_port(cut);
      std::size_t seen = 0;
      const auto parsed = parse_counters(cut, [&](std::string_view, std::uint64_t) { ++seen; });
      EXPECT_TRUE(!parsed || seen == 0 || size >= bytes.size() - 3) << name << " cut at " << size;
    }
  }
}

TEST(Parsers, RefuseLengthsBelowTheHeaderAndBeyondTheEnd) {
  auto bytes = recorded("stat_get_0.bin");
  for (const unsigned length : {0U, 1U, 3U, 0xffffU}) {
    bytes[0] = static_cast<std::byte>(length & 0xffU);
    bytes[1] = static_cast<std::byte>(length >> 8U);
    EXPECT_FALSE(parse_device(bytes).has_value()) << length;
    EXPECT_FALSE(parse_counters(bytes, [](std::string_view, std::uint64_t) {}).has_value()) << length;
  }
}

TEST(Parsers, SurviveEverySingleByteChanged) {
  for (const char* name : {"get_0.bin", "port_get_0.bin", "stat_get_0.bin"}) {
    const auto original = recorded(name);
    for (std::size_t at = 0; at < original.size(); ++at) {
      for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0xffU}) {
        auto bytes = original;
        bytes[at] = static_cast<std::byte>(value);
        (void)parse_device(bytes);
        (void)parse_port(bytes);
        (void)parse_counters(bytes,
                             [](std::string_view counter, std::uint64_t) { EXPECT_FALSE(counter.empty()); });
      }
    }
  }
}

TEST(DeviceRequest, HoldsIndexAndPort) {
  const auto payload = device_request(7, 2);
  const auto device = parse_device(payload);
  EXPECT_FALSE(device.has_value());  // no name in a request
  EXPECT_EQ(payload.size(), 16U);
  EXPECT_EQ(device_request(7).size(), 8U);
  EXPECT_EQ(payload[4], std::byte{7});
  EXPECT_EQ(payload[12], std::byte{2});
}

TEST(ParseSharedNamespaces, KnowsTheModeOfTheKernel) {
  const auto bytes = recorded("sys_get.bin");
  EXPECT_EQ(parse_shared_namespaces(bytes).value(), true);
  auto exclusive = bytes;
  exclusive[4] = std::byte{0};  // the value of the first attribute
  EXPECT_EQ(parse_shared_namespaces(exclusive).value(), false);
  EXPECT_EQ(parse_shared_namespaces({}).value(), std::nullopt) << "an old kernel";
  EXPECT_FALSE(parse_shared_namespaces(Bytes(bytes).first(3)).has_value());
}

}  // namespace
}  // namespace rdma_exporter::host::nldev
