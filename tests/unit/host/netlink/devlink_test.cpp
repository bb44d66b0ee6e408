// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/devlink/ORIGIN.md); expects what devlink printed then.
// Malformed answers are mutations of these.
#include "host/netlink/devlink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::host::devlink {
namespace {

using test::Message;

const Handle kCard{"pci", "0000:00:10.0"};

Message recorded(const std::string& name) { return test::recorded_file("devlink/" + name + ".bin"); }

std::vector<Reporter> reporters(const std::string& folder) {
  std::vector<Reporter> found;
  for (int i = 0; i < 16; ++i) {
    const auto reporter = parse_reporter(recorded(folder + "/reporter_" + std::to_string(i)));
    EXPECT_TRUE(reporter.has_value()) << i;
    if (reporter && reporter->handle == kCard) found.push_back(*reporter);
  }
  return found;
}

Reporter reporter(const std::string& folder, const std::string& name) {
  for (const Reporter& each : reporters(folder))
    if (each.name == name) return each;
  ADD_FAILURE() << "no reporter " << name;
  return {};
}

TEST(DevlinkReporter, IsWhatDevlinkPrints) {
  EXPECT_EQ(reporters("broken").size(), 4U)
      << "those of the other three cards are told apart by their handle";
  const Reporter fw = reporter("broken", "fw");
  EXPECT_TRUE(fw.in_error);
  EXPECT_EQ(fw.errors, 3U);
  EXPECT_EQ(fw.recoveries, 0U);
  EXPECT_FALSE(fw.port_index.has_value());
  const Reporter fatal = reporter("broken", "fw_fatal");
  EXPECT_FALSE(fatal.in_error);
  EXPECT_EQ(fatal.errors, 1U);
  EXPECT_EQ(fatal.recoveries, 1U);
}

TEST(DevlinkReporter, HasTheTimeOfItsDumpWhileThereIsOne) {
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  EXPECT_EQ(reporter("broken", "fw").dump_time_ns.value_or(0) / kNanoseconds, 1795380424U);
  EXPECT_FALSE(reporter("healthy", "fw").dump_time_ns.has_value());
  EXPECT_FALSE(reporter("broken", "tx").dump_time_ns.has_value());
}

TEST(DevlinkReporter, MayBelongToAPort) {
  const Reporter tx = reporter("broken", "tx");
  EXPECT_EQ(tx.port_index, 65535U);
  EXPECT_EQ(tx.errors, 2U);
  EXPECT_EQ(tx.recoveries, 2U);
}

TEST(DevlinkPort, IsWhatDevlinkPrints) {
  const Port port = parse_port(recorded("broken/port_0")).value();
  EXPECT_EQ(port.handle, kCard);
  EXPECT_EQ(port.index, 65535U);
  EXPECT_EQ(port.netdev, "cx0");
  EXPECT_EQ(port.flavour, "physical");
  EXPECT_EQ(port.number, 0U);
}

TEST(DevlinkInfo, SaysWhichFirmwareWaitsForAReset) {
  const auto versions = parse_info(recorded("broken/info")).value();
  ASSERT_EQ(versions.size(), 1U) << "the fixed version fw.psid is none that waits";
  EXPECT_EQ(versions[0].component, "fw.version");
  EXPECT_EQ(versions[0].running, "28.39.1002");
  EXPECT_EQ(versions[0].stored, "28.43.1014");
  EXPECT_EQ(parse_info(recorded("healthy/info")).value()[0].stored, "28.39.1002");
}

TEST(DevlinkInfo, LosesItsSerialNumberAndNothingElse) {
  const Message answer = recorded("broken/info");
  const auto has = [](const Message& message, std::string_view text) {
    const std::string_view bytes(reinterpret_cast<const char*>(message.data()), message.size());
    return bytes.find(text) != std::string_view::npos;
  };
  ASSERT_TRUE(has(answer, "MT2243X00000"));
  const Message without = without_serials(answer);
  EXPECT_FALSE(has(without, "MT2243"));
  EXPECT_EQ(parse_info(without).value()[0].stored, "28.43.1014");
  const Message other = recorded("broken/port_0");
  EXPECT_EQ(without_serials(other), other);
}

TEST(DevlinkAnswers, AreNotTakenForEachOther) {
  EXPECT_FALSE(parse_info(recorded("broken/port_0")).has_value());
  EXPECT_FALSE(parse_port(recorded("broken/info")).has_value());
  EXPECT_FALSE(parse_reporter(recorded("broken/info")).has_value());
  EXPECT_FALSE(parse_reporter({}).has_value());
}

// Each answer ends with a nest or a text, whose last byte is missing.
TEST(DevlinkAnswers, AreErrorsWhenTheyAreCut) {
  const auto cut = [](const Message& answer, std::size_t padding) {
    return Message(answer.begin(), answer.end() - static_cast<std::ptrdiff_t>(padding) - 1);
  };
  const Message reporter_answer = recorded("broken/reporter_0");
  EXPECT_TRUE(parse_reporter(reporter_answer).has_value());
  EXPECT_FALSE(parse_reporter(cut(reporter_answer, 3)).has_value());
  const Message info = recorded("broken/info");
  constexpr std::size_t kPaddingOfSerial = 3;
  EXPECT_TRUE(parse_info(Bytes(info).first(info.size() - kPaddingOfSerial)).has_value());
  EXPECT_FALSE(parse_info(cut(info, kPaddingOfSerial)).has_value());
}

TEST(DevlinkHandle, IsTheBusAndNameOfADevice) {
  const test::TempTree tree;
  const auto sysfs = make_host_fs(tree.root());
  tree.mkdir("devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.2");
  tree.link("../../../bus/pci", "devices/pci0000:3a/0000:3b:00.0/subsystem");
  tree.link("../../../../bus/auxiliary", "devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.2/subsystem");
  tree.link("../../../devices/pci0000:3a/0000:3b:00.0", "class/infiniband/mlx5_0/device");
  tree.link("../../../devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.2", "class/infiniband/mlx5_1/device");
  EXPECT_EQ(find_handle(*sysfs, "class/infiniband/mlx5_0/device")->text(), "pci/0000:3b:00.0");
  EXPECT_EQ(find_handle(*sysfs, "class/infiniband/mlx5_1/device")->text(), "auxiliary/mlx5_core.sf.2");
  EXPECT_FALSE(find_handle(*sysfs, "class/infiniband/rxe0/device").has_value());
}

}  // namespace
}  // namespace rdma_exporter::host::devlink
