// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Tests of the templates of collectors; copy the half that fits together with the template.
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec template_spec;
extern const CollectorSpec template_host_spec;

namespace {

class TemplateCollectorTest : public CollectorFixture {
 protected:
  TemplateCollectorTest() : CollectorFixture(template_spec) { add_port("d"); }
  void write(const std::string& text) const { tree_.write(device_path("d") + "device/sriov_numvfs", text); }
};

TEST_F(TemplateCollectorTest, ReadsANumber) {
  write("8\n");
  EXPECT_EQ(collect(), (Page{{R"(rdma_device_virtual_functions{device="d"})", 8}}));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(TemplateCollectorTest, ServesNothingWhereTheKernelHasNoSuchFile) {
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(errors_.empty());
}

TEST_F(TemplateCollectorTest, CountsWhatIsNoNumber) {
  write("eight\n");
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(errors_, (Counts{{"parse", 1}}));
}

// --- the host as a whole

class TemplateHostCollectorTest : public CollectorFixture {
 protected:
  TemplateHostCollectorTest() : CollectorFixture(template_host_spec) {}
  void write(const std::string& text) const { proc_.write("sys/kernel/random/entropy_avail", text); }
};

TEST_F(TemplateHostCollectorTest, ReadsANumberOnceForAllDevices) {
  add_port("d");
  add_port("e");
  write("256\n");
  EXPECT_EQ(collect(), (Page{{"rdma_host_entropy_bits{}", 256}}));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(TemplateHostCollectorTest, ServesNothingWhereTheKernelHasNoSuchFile) {
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(errors_.empty());
}

TEST_F(TemplateHostCollectorTest, CountsWhatIsNoNumber) {
  write("many\n");
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(errors_, (Counts{{"parse", 1}}));
}

}  // namespace
}  // namespace rdma_exporter::collectors
