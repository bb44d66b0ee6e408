// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/host_fs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "host/fs/fd.h"
#include "tests/unit/support/failing_new.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::host {
namespace {

class HostFsTest : public ::testing::Test {
 protected:
  static std::size_t descriptors() { return make_host_fs("/proc/self")->list("fd")->size(); }

  // Names of different lengths, sorted: more than the kernel gives at a time.
  std::vector<std::string> write_long_list(const std::string& dir) const {
    std::vector<std::string> names;
    for (int i = 1000; i < 2000; ++i)
      names.push_back(std::to_string(i) + std::string(static_cast<std::size_t>(i % 60), 'x'));
    for (const std::string& name : names) tree_.write(dir + "/" + name, "");
    return names;
  }

  test::TempTree tree_;
  std::unique_ptr<HostFs> fs_ = make_host_fs(tree_.root());
};

TEST_F(HostFsTest, ReadsAFileWithoutItsNewline) {
  tree_.write("a/b", "4: ACTIVE\n");
  EXPECT_EQ(fs_->read("a/b").value(), "4: ACTIVE");
}

TEST_F(HostFsTest, SaysWhyAReadFailed) {
  EXPECT_EQ(core::reason(fs_->read("missing").error()), "ENOENT");
  tree_.mkdir("dir");
  EXPECT_EQ(core::reason(fs_->read("dir").error()), "EISDIR");
  tree_.link("/proc/self/mem", "mem");  // page 0 is never mapped
  EXPECT_EQ(core::reason(fs_->read("mem").error()), "EIO");
}

TEST_F(HostFsTest, DoesNotReadMoreThanTheBuffer) {
  tree_.write("big", std::string(10U << 20U, '1'));
  EXPECT_EQ(core::reason(fs_->read("big").error()), "too_long");
}

TEST_F(HostFsTest, ListsNamesSorted) {
  for (const char* name : {"d/b", "d/a", "d/C"}) tree_.write(name, "");
  EXPECT_EQ(fs_->list("d").value(), (std::vector<std::string>{"C", "a", "b"}));
  EXPECT_TRUE(core::is_errno(fs_->list("nowhere").error(), ENOENT));
}

TEST_F(HostFsTest, ListsHundredsOfNames) {
  const std::vector<std::string> names = write_long_list("d");
  EXPECT_EQ(fs_->list("d").value(), names);
}

TEST_F(HostFsTest, NeverTakesAPartOfAListForTheWhole) {
  // In memory: so many files take a disk half a minute.
  std::string folder = "/dev/shm/rdma_exporter_test_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  fs_ = make_host_fs(folder);
  const auto add = [&](std::size_t number) {
    const Fd file(::open((folder + "/" + std::to_string(number)).c_str(), O_CREAT | O_WRONLY, 0600));
    ASSERT_TRUE(file.valid());
  };
  for (std::size_t i = 0; i < HostFs::kMaxEntries; ++i) add(i);
  EXPECT_EQ(fs_->list(".")->size(), HostFs::kMaxEntries);
  add(HostFs::kMaxEntries);
  const auto more = fs_->list(".");
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind, core::Errc::too_long);
}

// A process that has ended has no network namespace: /proc/PID/net can be opened, and reading it fails
// (fs/proc/proc_net.c proc_tgid_net_readdir).
TEST_F(HostFsTest, SaysThatAListBrokeOff) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const auto names = make_host_fs("/proc")->list(std::to_string(child) + "/net");
  ::waitpid(child, nullptr, 0);
  ASSERT_FALSE(names);
  EXPECT_EQ(core::reason(names.error()), "EINVAL");
}

TEST_F(HostFsTest, LeavesNoDescriptorBehind) {
  tree_.write("d/a", "1\n");
  const auto use_all = [&] {
    EXPECT_TRUE(fs_->list("d"));
    EXPECT_TRUE(fs_->read("d/a"));
    EXPECT_TRUE(fs_->open_dir("d"));
    EXPECT_TRUE(fs_->canonical("d"));
    EXPECT_FALSE(fs_->list("d/a"));
    EXPECT_FALSE(fs_->read("d"));
  };
  use_all();
  const std::size_t before = descriptors();
  for (int i = 0; i < 20; ++i) use_all();
  EXPECT_LE(descriptors(), before) << "threads of other tests may still be closing theirs";
}

TEST_F(HostFsTest, LeavesNoDescriptorBehindWithoutMemory) {
  tree_.write("d/a_name_that_is_too_long_to_be_kept_inside_of_a_string", "");
  const std::size_t before = descriptors();
  bool failed = true;
  for (long granted = 0; failed; ++granted) {
    const test::FailingNew failing(granted);
    try {
      (void)fs_->list("d");
    } catch (const std::bad_alloc&) {  // each allocation fails once
    }
    failed = failing.happened();
  }
  EXPECT_LE(descriptors(), before);
}

TEST_F(HostFsTest, GivesTheLastComponentOfALink) {
  tree_.link("../../bus/pci/drivers/mlx5_core", "driver");
  EXPECT_EQ(fs_->link_name("driver").value(), "mlx5_core");
}

TEST_F(HostFsTest, ResolvesLinksBelowItsRootOnly) {
  tree_.mkdir("devices/pci0000:00/0000:3b:00.0");
  tree_.link("../devices/pci0000:00/0000:3b:00.0", "class/dev");
  tree_.link("/tmp", "outside");
  EXPECT_EQ(fs_->canonical("class/dev").value(), "devices/pci0000:00/0000:3b:00.0");
  EXPECT_TRUE(core::is_errno(fs_->canonical("outside").error(), ENOENT));
}

TEST_F(HostFsTest, SeesThatADirectoryWasReplaced) {
  tree_.write("dir/a", "1");
  const auto before = fs_->stat("dir").value();
  EXPECT_EQ(before, fs_->stat("dir").value());
  tree_.remove("dir");
  tree_.write("dir/a", "2");
  EXPECT_NE(before, fs_->stat("dir").value());
}

TEST_F(HostFsTest, KeepsADirectoryOfSysfsOpenThatIsListedAgainAndAgain) {
  const std::string path = "class/mem";
  const auto sysfs = make_host_fs("/sys");
  EXPECT_EQ(sysfs->fingerprint(path), std::nullopt) << "not listed yet";
  const auto entries = sysfs->entries(path).value();
  EXPECT_TRUE(std::any_of(entries.begin(), entries.end(),
                          [](const DirEntry& entry) { return entry.name == "null" && entry.inode != 0; }));
  const std::size_t open = descriptors();
  const auto fingerprint = sysfs->fingerprint(path);
  ASSERT_TRUE(fingerprint);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sysfs->entries(path).value(), entries);
    EXPECT_EQ(sysfs->fingerprint(path), fingerprint);
  }
  EXPECT_LE(descriptors(), open) << "threads of other tests may still be closing theirs";
}

// Directories that a test can change, by way of "..".
TEST_F(HostFsTest, HasAFingerprintOfTheWholeOfALongList) {
  const std::vector<std::string> names = write_long_list("d");
  const std::string path = ".." + tree_.path("d");
  const auto sysfs = make_host_fs("/sys");
  EXPECT_EQ(sysfs->entries(path)->size(), names.size());
  auto last = sysfs->fingerprint(path);
  ASSERT_TRUE(last);
  EXPECT_EQ(sysfs->fingerprint(path), last);
  for (std::size_t i = 0; i < names.size(); i += 100) {
    tree_.remove("d/" + names[i]);
    EXPECT_NE(sysfs->fingerprint(path), last) << "without " << names[i];
    last = sysfs->fingerprint(path);
  }
}

TEST_F(HostFsTest, FindsADirectoryThatWasRemovedAndMadeAgain) {
  tree_.write("d/a", "");
  const std::string path = ".." + tree_.path("d");
  const auto sysfs = make_host_fs("/sys");
  EXPECT_EQ(sysfs->entries(path).value().front().name, "a");
  tree_.remove("d");
  EXPECT_EQ(sysfs->fingerprint(path), std::nullopt);
  EXPECT_TRUE(core::is_errno(sysfs->entries(path).error(), ENOENT));
  tree_.write("d/b", "");
  EXPECT_EQ(sysfs->fingerprint(path), std::nullopt) << "not listed yet";
  EXPECT_EQ(sysfs->entries(path).value().front().name, "b");
  tree_.remove("d");
  tree_.write("d/c", "");
  EXPECT_EQ(sysfs->entries(path).value().front().name, "c");
}

TEST_F(HostFsTest, GivesNoFingerprintOfWhatIsNoSysfs) {
  tree_.write("dir/a", "1");
  EXPECT_EQ(fs_->entries("dir").value().size(), 1U);
  EXPECT_EQ(fs_->fingerprint("dir"), std::nullopt);
}

TEST_F(HostFsTest, KnowsARealSysfs) {
  EXPECT_TRUE(is_real_sysfs("/sys"));
  EXPECT_FALSE(is_real_sysfs(tree_.root()));
}

}  // namespace
}  // namespace rdma_exporter::host
