// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/attr_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::host {
namespace {

class AttrFilesTest : public ::testing::Test {
 protected:
  std::string read(AttrFiles& dir, std::string_view name) {
    std::array<char, 64> buffer{};
    const auto text = dir.read(name, buffer);
    return text ? std::string(*text) : std::string(core::reason(text.error()));
  }

  test::TempTree tree_;
  std::unique_ptr<HostFs> fs_ = make_host_fs(tree_.root());
  OpenFileBudget budget_{3};  // a directory and two files
};

TEST_F(AttrFilesTest, ReadsTheValueOfNowFromAKeptFile) {
  tree_.write("d/a", "1\n");
  AttrFiles dir(*fs_, "d", budget_);
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "1\n");
  EXPECT_EQ(budget_.used(), 2U);
  tree_.write("d/a", "22\n");
  EXPECT_FALSE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "22\n");
}

TEST_F(AttrFilesTest, ReadsBeyondTheBudgetWithoutKeeping) {
  for (const char* name : {"d/a", "d/b", "d/c"}) tree_.write(name, "7\n");
  {
    AttrFiles dir(*fs_, "d", budget_);
    ASSERT_TRUE(dir.refresh().value());
    for (int round = 0; round < 2; ++round)
      for (const char* name : {"a", "b", "c"}) EXPECT_EQ(read(dir, name), "7\n");
    EXPECT_EQ(budget_.used(), 3U);
  }
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(AttrFilesTest, NoticesChangesWithoutAnyBudget) {
  OpenFileBudget none(0);
  tree_.write("d/a", "1\n");
  AttrFiles dir(*fs_, "d", none);
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_FALSE(dir.refresh().value());
  tree_.write("d/b", "2\n");
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "b"), "2\n");
  EXPECT_EQ(none.used(), 0U);
}

// Fails to open anything while it has no descriptors.
class ExhaustedFs : public test::WatchedFs {
 public:
  using WatchedFs::WatchedFs;
  core::Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    if (refusals > 0) {
      --refusals;
      return core::os_error(EMFILE);
    }
    return WatchedFs::open(path);
  }
  int refusals = 0;
};

TEST_F(AttrFilesTest, GivesUpWhatItKeepsWhenTheProcessHasNoMoreDescriptors) {
  ExhaustedFs fs(make_host_fs(tree_.root()));
  OpenFileBudget budget(100);
  for (const char* name : {"d/a", "d/b", "d/c", "d/d", "d/e"}) tree_.write(name, "7\n");
  AttrFiles dir(fs, "d", budget);
  ASSERT_TRUE(dir.refresh().value());
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(read(dir, name), "7\n");
  EXPECT_EQ(budget.used(), 5U);
  fs.refusals = 1;
  EXPECT_EQ(read(dir, "e"), "7\n") << "its own files made room";
  for (int round = 0; round < 2; ++round)
    for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_EQ(read(dir, name), "7\n");
  EXPECT_EQ(budget.used(), 3U) << "three quarters of those before";
}

// As others run out: what is kept is given back with its next read.
TEST_F(AttrFilesTest, GivesBackWhatIsOverTheBudget) {
  OpenFileBudget budget(100);
  for (const char* name : {"d/a", "d/b", "d/c"}) tree_.write(name, "7\n");
  AttrFiles dir(*fs_, "d", budget);
  ASSERT_TRUE(dir.refresh().value());
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(read(dir, name), "7\n");
  ASSERT_EQ(budget.used(), 4U);
  budget.ran_out({core::Errc::os, EMFILE, {}});
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(read(dir, name), "7\n");
  EXPECT_EQ(budget.used(), 3U);
}

TEST_F(AttrFilesTest, FailsForOneFileOnly) {
  tree_.write("d/good", "1\n");
  tree_.link("/proc/self/mem", "d/bad");
  AttrFiles dir(*fs_, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "bad"), "EIO");
  EXPECT_EQ(read(dir, "good"), "1\n");
  EXPECT_EQ(read(dir, "missing"), "ENOENT");
}

TEST_F(AttrFilesTest, NoticesFilesThatComeGoAndAreReplaced) {
  tree_.write("d/a", "1\n");
  AttrFiles dir(*fs_, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "1\n");
  EXPECT_EQ(read(dir, "b"), "ENOENT");
  tree_.remove("d/a");
  tree_.write("d/b", "2\n");
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "ENOENT");
  EXPECT_EQ(read(dir, "b"), "2\n");
  tree_.write("d/a", "new\n");
  EXPECT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "new\n");
}

TEST_F(AttrFilesTest, GivesFilesBackWhenTheDirectoryGoes) {
  tree_.write("d/a", "1\n");
  AttrFiles dir(*fs_, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  read(dir, "a");
  tree_.remove("d");
  EXPECT_TRUE(core::is_errno(dir.refresh().error(), ENOENT));
  EXPECT_EQ(read(dir, "a"), "ENOENT");
  EXPECT_EQ(budget_.used(), 0U);
}

// A port of an adapter has a hundred files, and one that an adapter lacks must not cost a system call each
// time.
TEST_F(AttrFilesTest, OpensNothingElse) {
  for (const char* name : {"d/a", "d/b"}) tree_.write(name, "7\n");
  test::WatchedFs fs(make_host_fs(tree_.root()));
  AttrFiles dir(fs, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(read(dir, "a"), "7\n");
    EXPECT_EQ(read(dir, "none"), "ENOENT");
  }
  EXPECT_EQ(fs.opens, (decltype(fs.opens){{"d/a", 1}, {"d/none", 1}}));
}

// Opens files that lose their device after the first read, as sysfs attributes do.
class VanishingFs : public HostFs {
 public:
  class File : public OpenFile {
   public:
    core::Result<std::string_view> read(std::span<char> buffer) override {
      if (reads_++ > 0) return core::os_error(ENODEV);
      buffer[0] = '5';
      return std::string_view(buffer.data(), 1);
    }

   private:
    int reads_ = 0;
  };
  core::Result<std::vector<std::string>> list(const std::string& /*path*/) override {
    return std::vector<std::string>{"a"};
  }
  core::Result<std::string> read_link(const std::string& /*path*/) override { return core::os_error(ENOENT); }
  core::Result<std::string> canonical(const std::string& /*path*/) override { return core::os_error(ENOENT); }
  core::Result<FileId> stat(const std::string& /*path*/) override { return FileId{1, 1, 1, true}; }
  class Dir : public OpenDir {
   public:
    core::Result<FileId> stat() override { return FileId{1, 1, 1, true}; }
  };
  core::Result<std::unique_ptr<OpenDir>> open_dir(const std::string& /*path*/) override {
    return std::make_unique<Dir>();
  }
  core::Result<std::unique_ptr<OpenFile>> open(const std::string& /*path*/) override {
    ++opened;
    if (missing) return core::os_error(ENOENT);
    return std::make_unique<File>();
  }
  const std::string& root() const override { return root_; }
  int opened = 0;
  bool missing = false;

 private:
  std::string root_;
};

TEST_F(AttrFilesTest, OpensAgainWhenTheKernelRemovedTheAttribute) {
  VanishingFs fs;
  AttrFiles dir(fs, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "5");
  EXPECT_EQ(read(dir, "a"), "5");
  EXPECT_EQ(fs.opened, 2);
  EXPECT_EQ(budget_.used(), 2U) << "the directory and the new file: what is gone is given back";
}

// An interface is renamed for a moment, and its directory stays the same.
TEST_F(AttrFilesTest, TriesAgainWhatHasBeenThere) {
  VanishingFs fs;
  AttrFiles dir(fs, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  EXPECT_EQ(read(dir, "a"), "5");
  fs.missing = true;
  EXPECT_EQ(read(dir, "a"), "ENOENT");
  fs.missing = false;
  EXPECT_EQ(read(dir, "a"), "5");
}

TEST_F(AttrFilesTest, FindsNamesInAnyOrder) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    names.push_back(kLetters.substr(i, 1));
    tree_.write("d/" + std::string(names.back()), std::string(names.back()));
  }
  AttrFiles dir(*fs_, "d", budget_);
  ASSERT_TRUE(dir.refresh().value());
  const auto expect_all = [&] {
    for (const std::string_view name : names) EXPECT_EQ(read(dir, name), name);
    EXPECT_EQ(read(dir, "ab"), "ENOENT");
  };
  expect_all();
  expect_all();
  std::reverse(names.begin(), names.end());
  expect_all();
  tree_.remove("d/a");
  names.pop_back();
  tree_.write("d/0", "0");
  names.push_back("0");
  ASSERT_TRUE(dir.refresh().value());
  expect_all();
  EXPECT_EQ(read(dir, "a"), "ENOENT");
}

}  // namespace
}  // namespace rdma_exporter::host
