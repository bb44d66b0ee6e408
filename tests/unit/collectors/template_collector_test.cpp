// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Test of the collector template; copy it together with the template.
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec template_spec;

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

}  // namespace
}  // namespace rdma_exporter::collectors
