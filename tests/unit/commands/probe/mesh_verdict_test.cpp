// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/mesh_verdict.h"

#include <gtest/gtest.h>

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using probe::Failure;
using probe::Op;
using probe::Stage;

class MeshVerdict : public testing::Test {
 protected:
  void works(const char* device, const char* target) {
    auto& operations = tallies[{device, 1, target, 0}];
    operations[Op::write].success(3us);
    operations[Op::echo].success(9us);
  }
  void fails(const char* device, const char* target, const Failure& why = {Stage::op, "retry_exc_err"}) {
    auto& operations = tallies[{device, 1, target, 0}];
    operations[Op::write].failure(why);
    operations[Op::echo].failure(why);
  }
  std::string text() const { return mesh_text(tallies, list); }
  bool says(const std::string& what) const { return text().find(what) != std::string::npos; }

  Tallies tallies;
  MeshList list{16, true};
};

TEST_F(MeshVerdict, IsALineForEachPathAndThatAllWork) {
  works("mlx5_0", "gpu-17");
  works("mlx5_1", "gpu-8");
  EXPECT_EQ(text(),
            "mlx5_0 port 1 -> gpu-17  write 3.0 us\n"
            "mlx5_1 port 1 -> gpu-8   write 3.0 us\n"
            "This host is one of 16 in the list. 2 of 2 paths work.\n");
}

TEST_F(MeshVerdict, BlamesTheAdapterNoneOfWhosePathsWorks) {
  works("mlx5_0", "gpu-17");
  works("mlx5_0", "gpu-18");
  fails("mlx5_1", "gpu-17");
  fails("mlx5_1", "gpu-18");
  EXPECT_TRUE(says("mlx5_1 port 1 -> gpu-17  fails: op retry_exc_err\n")) << text();
  EXPECT_TRUE(says("mlx5_1: none of its 2 paths works")) << text();
  EXPECT_FALSE(says("that host"));
  EXPECT_FALSE(says("other path"));
}

TEST_F(MeshVerdict, BlamesTheHostThatNoAdapterReaches) {
  for (const char* device : {"mlx5_0", "mlx5_1"}) {
    works(device, "gpu-17");
    fails(device, "gpu-18");
  }
  EXPECT_TRUE(says("gpu-18: no path to it works, from 2 adapters. Suspect that host.")) << text();
  EXPECT_FALSE(says("mlx5_0: none"));
}

TEST_F(MeshVerdict, BlamesNobodyForOnePath) {
  works("mlx5_0", "gpu-17");
  works("mlx5_1", "gpu-18");
  fails("mlx5_0", "gpu-18");
  EXPECT_TRUE(says("1 other path fails.")) << text();
  EXPECT_FALSE(says("that host"));
  EXPECT_FALSE(says("this adapter"));
}

TEST_F(MeshVerdict, BlamesNoPeerWhenNothingWorks) {
  fails("mlx5_0", "gpu-17");
  fails("mlx5_0", "gpu-18");
  EXPECT_TRUE(says("No path over the fabric works")) << text();
  EXPECT_FALSE(says("that host"));
}

TEST_F(MeshVerdict, TakesTheControlConnectionForNoFailureOfThePath) {
  works("mlx5_0", "gpu-17");
  for (const char* device : {"mlx5_0", "mlx5_1"}) fails(device, "gpu-18", {Stage::tcp, "ECONNREFUSED"});
  EXPECT_TRUE(says("not probed: tcp ECONNREFUSED")) << text();
  EXPECT_TRUE(says("2 paths are not probed")) << text();
  EXPECT_FALSE(says("that host."));
}

TEST_F(MeshVerdict, TellsAHostThatHangsFromThePath) {
  auto& operations = tallies[{"mlx5_0", 1, "gpu-17", 0}];
  operations[Op::write].success(3us);
  operations[Op::echo].failure({Stage::echo, probe::kDeadline});
  EXPECT_TRUE(says("write 3.0 us, no echo: echo deadline")) << text();
  EXPECT_TRUE(says("1 of 1 paths work")) << text();
  EXPECT_TRUE(says("The adapters of 1 peers answer but their processes do not")) << text();
}

TEST_F(MeshVerdict, SaysWhyThereIsNothing) {
  EXPECT_TRUE(says("none of its selected RDMA ports is active")) << text();
  list.member = false;
  EXPECT_TRUE(says("not in the mesh list, which has 16 entries")) << text();
  list.entries = 0;
  EXPECT_TRUE(says("could not be read")) << text();
}

}  // namespace
}  // namespace rdma_exporter::commands
