// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/keygen.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "probe/channel/secret_file.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::commands {
namespace {

TEST(ProbeKeygen, MakesASecretThatOnlyItsOwnerReads) {
  const test::TempTree tree;
  const auto name = make_key(tree.path("psk"));
  ASSERT_TRUE(name) << name.error().context.text();
  struct stat status {};
  ASSERT_EQ(::stat(tree.path("psk").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0400U);
  const auto secrets = probe::read_secrets(tree.path("psk"));
  ASSERT_TRUE(secrets) << secrets.error().context.text();
  ASSERT_EQ(secrets->size(), 1U);
  EXPECT_EQ(secrets->front().identity, *name);
  EXPECT_EQ(secrets->front().key.size(), 32U);
}

TEST(ProbeKeygen, MakesNoTwoAlike) {
  const test::TempTree tree;
  ASSERT_TRUE(make_key(tree.path("a")));
  ASSERT_TRUE(make_key(tree.path("b")));
  const auto a = probe::read_secrets(tree.path("a"));
  const auto b = probe::read_secrets(tree.path("b"));
  EXPECT_NE(a->front().identity, b->front().identity) << "both can be in one file";
  EXPECT_NE(a->front().key, b->front().key);
}

TEST(ProbeKeygen, NeverOverwrites) {
  const test::TempTree tree;
  tree.write("psk", "fleet:00");
  tree.link(tree.path("elsewhere"), "link");
  for (const char* file : {"psk", "link"}) {
    const auto refused = make_key(tree.path(file));
    ASSERT_FALSE(refused) << file;
    EXPECT_EQ(refused.error().os_errno, EEXIST);
  }
  EXPECT_FALSE(probe::read_secrets(tree.path("psk"))) << "as it was";
  EXPECT_NE(::access(tree.path("elsewhere").c_str(), F_OK), 0);
}

TEST(ProbeKeygen, SaysWhereItCannotWrite) {
  const auto refused = make_key("/nowhere/psk");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().os_errno, ENOENT);
  EXPECT_NE(core::to_string(refused.error()).find("/nowhere/psk"), std::string::npos);
}

}  // namespace
}  // namespace rdma_exporter::commands
