// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// How files are kept open is tested with AttrFiles (attr_files_test.cpp).
#include "host/fs/attr_dir.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::host {
namespace {

class AttrDirTest : public ::testing::Test {
 protected:
  std::string read(AttrDir& dir, std::size_t index) {
    std::array<char, 64> buffer{};
    const auto text = dir.read(index, buffer);
    return text ? std::string(*text) : std::string(core::reason(text.error()));
  }

  test::TempTree tree_;
  std::unique_ptr<HostFs> fs_ = make_host_fs(tree_.root());
  OpenFileBudget budget_{3};  // a directory and two files
};

TEST_F(AttrDirTest, NoticesFilesThatComeGoAndAreReplaced) {
  tree_.write("d/a", "1\n");
  AttrDir dir(*fs_, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, 0), "1\n");
  EXPECT_FALSE(dir.refresh().value());
  tree_.remove("d/a");
  tree_.write("d/a", "new\n");
  tree_.write("d/b", "2\n");
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_EQ(dir.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read(dir, 0), "new\n");
  EXPECT_EQ(read(dir, 1), "2\n");
  tree_.remove("d/a");
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, 0), "2\n");
  EXPECT_EQ(budget_.used(), 2U) << "the directory, and the file that is left";
}

TEST_F(AttrDirTest, GivesFilesBackWhenTheDirectoryGoes) {
  tree_.write("d/a", "1\n");
  AttrDir dir(*fs_, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  read(dir, 0);
  tree_.remove("d");
  EXPECT_TRUE(core::is_errno(dir.refresh().error(), ENOENT));
  EXPECT_TRUE(dir.names().empty());
  EXPECT_EQ(budget_.used(), 0U);
}

}  // namespace
}  // namespace rdma_exporter::host
