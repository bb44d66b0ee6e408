// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Synthetic files, after drivers/pci/pcie/aer.c of Linux 6.1.
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec pcie_errors_spec;

namespace {

const std::string kRoot = "devices/pci0000:3a/0000:3a:00.0";
const std::string kFunction = kRoot + "/0000:3b:00.0";

class PcieErrorsTest : public CollectorFixture {
 protected:
  PcieErrorsTest() : CollectorFixture(pcie_errors_spec) {
    add_port("d");
    tree_.link("../../../" + kFunction, device_path("d") + "device");
    for (const std::string& path : {kFunction, kRoot}) {
      write_correctable(path, 0, 0, 0);
      tree_.write(path + "/aer_dev_nonfatal", "Undefined 0\nDLP 0\nCmpltTO 0\nTOTAL_ERR_NONFATAL 0\n");
      tree_.write(path + "/aer_dev_fatal", "Undefined 0\nDLP 0\nSDES 0\nTOTAL_ERR_FATAL 0\n");
    }
    for (const char* level : {"cor", "nonfatal", "fatal"})
      tree_.write(kRoot + "/aer_rootport_total_err_" + level, "0\n");
    tree_.mkdir("bus/pci_express/drivers/aer/0000:3a:00.0:pcie002");
  }

  void write_correctable(const std::string& path, int bad_tlp, int bad_dllp, int messages) const {
    tree_.write(path + "/aer_dev_correctable", "RxErr 0\nBadTLP " + std::to_string(bad_tlp) + "\nBadDLLP " +
                                                   std::to_string(bad_dllp) + "\nTOTAL_ERR_COR " +
                                                   std::to_string(messages) + "\n");
  }

  static std::string of(const std::string& end, const std::string& level, const std::string& device = "d") {
    const std::string address = end == "function" ? "0000:3b:00.0" : "0000:3a:00.0";
    return "device=\"" + device + "\",end=\"" + end + "\",pci_address=\"" + address + "\",level=\"" + level +
           "\"";
  }
  static std::string messages(const std::string& end, const std::string& level) {
    return "rdma_device_pcie_error_messages_total{" + of(end, level) + "}";
  }
  static std::string errors(const std::string& end, const std::string& level, const std::string& error) {
    return "rdma_device_pcie_errors_total{" + of(end, level) + ",error=\"" + error + "\"}";
  }
  static std::string root(const std::string& level) {
    return R"(rdma_device_pcie_root_error_messages_total{device="d",pci_address="0000:3a:00.0",level=")" +
           level + "\"}";
  }
  static inline const std::string kNative = R"(rdma_device_pcie_aer_native{device="d"})";
};

TEST_F(PcieErrorsTest, ServesBothEndsAndTheRootFromTheStart) {
  Page expected{{kNative, 1}};
  for (const char* level : {"correctable", "nonfatal", "fatal"}) {
    expected[messages("function", level)] = 0;
    expected[messages("port", level)] = 0;
    expected[root(level)] = 0;
  }
  EXPECT_EQ(collect(), expected);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PcieErrorsTest, TellsTheKindsThatHaveCounted) {
  write_correctable(kRoot, 5, 0, 3);
  Page page = collect();
  EXPECT_EQ(page.at(messages("port", "correctable")), 3);
  EXPECT_EQ(page.at(messages("function", "correctable")), 0);
  EXPECT_EQ(page.at(errors("port", "correctable", "BadTLP")), 5);
  EXPECT_FALSE(page.contains(errors("port", "correctable", "BadDLLP")));
  write_correctable(kRoot, 6, 2, 5);
  page = collect();
  EXPECT_EQ(page.at(errors("port", "correctable", "BadTLP")), 6);
  EXPECT_EQ(page.at(errors("port", "correctable", "BadDLLP")), 2);
}

// A kind that was removed and rescanned begins at 0 again: the series goes on, so that the reset is seen.
TEST_F(PcieErrorsTest, KeepsAKindThatFellToZero) {
  write_correctable(kFunction, 4, 0, 4);
  collect();
  write_correctable(kFunction, 0, 0, 0);
  EXPECT_EQ(collect().at(errors("function", "correctable", "BadTLP")), 0);
}

// Nonfatal and fatal errors are of the same kinds.
TEST_F(PcieErrorsTest, TellsAKindOfTwoLevelsApart) {
  const std::string dlp = errors("function", "nonfatal", "DLP");
  const std::string fatal_dlp = errors("function", "fatal", "DLP");
  tree_.write(kFunction + "/aer_dev_nonfatal", "Undefined 0\nDLP 1\nCmpltTO 0\nTOTAL_ERR_NONFATAL 1\n");
  Page page = collect();
  EXPECT_EQ(page.at(dlp), 1);
  EXPECT_FALSE(page.contains(fatal_dlp));
  tree_.write(kFunction + "/aer_dev_fatal", "Undefined 0\nDLP 2\nSDES 0\nTOTAL_ERR_FATAL 2\n");
  page = collect();
  EXPECT_EQ(page.at(dlp), 1);
  EXPECT_EQ(page.at(fatal_dlp), 2);
  tree_.write(kFunction + "/aer_dev_nonfatal", "garbage");
  page = collect();
  EXPECT_FALSE(page.contains(dlp));
  EXPECT_EQ(page.at(fatal_dlp), 2);
}

// A text that is the same as before says the same as before; what is no such text is an error each time.
TEST_F(PcieErrorsTest, ServesTheSameWhileAFileStaysTheSame) {
  write_correctable(kRoot, 5, 0, 3);
  const Page first = collect();
  EXPECT_EQ(collect(), first);
  EXPECT_TRUE(errors_.empty());
  for (int i = 0; i < 2; ++i) {
    tree_.write(kRoot + "/aer_dev_correctable", "not a counter\n");
    EXPECT_FALSE(collect().contains(messages("port", "correctable")));
    EXPECT_EQ(errors_.size(), 1U);
  }
  write_correctable(kRoot, 5, 0, 3);
  EXPECT_EQ(collect(), first);
}

TEST_F(PcieErrorsTest, CountsFatalErrorsAtTheRootOnly) {
  tree_.write(kRoot + "/aer_rootport_total_err_fatal", "2\n");
  const Page page = collect();
  EXPECT_EQ(page.at(root("fatal")), 2);
  EXPECT_EQ(page.at(messages("function", "fatal")), 0);
}

TEST_F(PcieErrorsTest, FindsTheRootPortBeyondASwitch) {
  const std::string below = kRoot + "/0000:3c:00.0/0000:3d:08.0/0000:3e:00.0";
  tree_.write(below + "/aer_dev_fatal", "TOTAL_ERR_FATAL 0\n");
  tree_.write(kRoot + "/0000:3c:00.0/0000:3d:08.0/aer_dev_fatal", "TOTAL_ERR_FATAL 7\n");
  add_port("e");
  tree_.link("../../../" + below, device_path("e") + "device");
  const Page page = collect();
  EXPECT_EQ(
      page.at("rdma_device_pcie_error_messages_total{device=\"e\",end=\"port\",pci_address=\"0000:3d:08.0\","
              "level=\"fatal\"}"),
      7);
  EXPECT_TRUE(
      page.contains("rdma_device_pcie_root_error_messages_total{device=\"e\",pci_address=\"0000:3a:00.0\","
                    "level=\"fatal\"}"));
}

TEST_F(PcieErrorsTest, SaysThatTheFirmwareKeepsTheErrorsToItself) {
  tree_.remove("bus/pci_express/drivers/aer/0000:3a:00.0:pcie002");
  tree_.mkdir("bus/pci_express/drivers/aer/0000:00:01.0:pcie002");
  EXPECT_EQ(collect().at(kNative), 0);
  tree_.remove("bus/pci_express");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(collect().at(kNative), 0);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PcieErrorsTest, LeavesVirtualFunctionsToThePhysicalOne) {
  tree_.link("../" + kRoot.substr(kRoot.rfind('/') + 1), kFunction + "/physfn");
  EXPECT_TRUE(collect().empty());
}

TEST_F(PcieErrorsTest, LeavesSubFunctionsToThePhysicalOne) {
  add_port("sf");
  tree_.mkdir(kFunction + "/mlx5_core.sf.2");
  tree_.link("../../../" + kFunction + "/mlx5_core.sf.2", device_path("sf") + "device");
  for (const auto& [series, value] : collect()) EXPECT_EQ(series.find("\"sf\""), std::string::npos) << series;
}

TEST_F(PcieErrorsTest, SaysNothingWhereThereIsNoAer) {
  for (const std::string& path : {kFunction, kRoot})
    for (const char* level : {"correctable", "nonfatal", "fatal"}) tree_.remove(path + "/aer_dev_" + level);
  for (const char* level : {"cor", "nonfatal", "fatal"})
    tree_.remove(kRoot + "/aer_rootport_total_err_" + level);
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PcieErrorsTest, LosesOneFileToGarbageAndCountsIt) {
  tree_.write(kFunction + "/aer_dev_nonfatal", "garbage");
  const Page page = collect();
  EXPECT_FALSE(page.contains(messages("function", "nonfatal")));
  EXPECT_TRUE(page.contains(messages("function", "correctable")));
  EXPECT_EQ(errors_, (Counts{{"parse", 1}}));
}

}  // namespace
}  // namespace rdma_exporter::collectors
