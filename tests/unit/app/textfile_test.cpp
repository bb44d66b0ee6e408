// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/textfile.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace rdma_exporter::app {
namespace {

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() {
    std::string name = testing::TempDir() + "rdma_textfile.XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "rdma.prom";
  }
  ~ReplaceFile() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(ReplaceFile, PutsANewFileInThePlaceOfTheOldOne) {
  const mode_t mask = ::umask(077);
  ASSERT_TRUE(replace_file(path_, "one\n"));
  std::ifstream reader(path_, std::ios::binary);
  ASSERT_TRUE(replace_file(path_, "two\n"));
  ::umask(mask);
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "one") << "who has the old one open reads it to its end";
  EXPECT_EQ(content(path_), "two\n");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms{0644});
  EXPECT_EQ(files(), 1U);
}

TEST_F(ReplaceFile, DoesNotWriteThroughALinkThatLiesInItsWay) {
  const auto victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, path_.string() + ".tmp");
  ASSERT_TRUE(replace_file(path_, "one\n"));
  EXPECT_EQ(content(victim), "precious");
  EXPECT_EQ(content(path_), "one\n");
}

TEST_F(ReplaceFile, SaysWhyItCannotAndLeavesNothingBehind) {
  std::filesystem::create_directories(path_ / "in_the_way");
  const auto done = replace_file(path_, "one\n");
  ASSERT_FALSE(done);
  EXPECT_NE(core::to_string(done.error()).find(path_.string()), std::string::npos);
  EXPECT_EQ(files(), 1U);
  EXPECT_FALSE(replace_file((folder_ / "no/such/rdma.prom").string(), "one\n"));
}

// A full disk, as far as a test can have one.
TEST_F(ReplaceFile, LeavesTheOldFileWholeWhenTheNewOneDoesNotFit) {
  ASSERT_TRUE(replace_file(path_, "one\n"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto done = replace_file(path_, std::string(10'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().os_errno, EFBIG);
  EXPECT_EQ(content(path_), "one\n");
  EXPECT_EQ(files(), 1U);
}

/// An exporter that finds no memory for its page.
class NoPage final : public web::MetricsSource {
 public:
  void metrics(const web::MetricsRequest&, std::chrono::steady_clock::time_point, Answer answer) override {
    answer(Page());
  }
  bool ready() const override { return true; }
  void reload(ReloadAnswer answer) override { answer({}); }
  void host_page(HostPage, HostPageAnswer answer) override { answer(nullptr); }
};

TEST_F(ReplaceFile, IsNotBegunWithoutAPage) {
  asio::io_context io;
  NoPage source;
  config::Config config;
  config.textfile = path_;
  Textfile textfile(io, source, config);
  textfile.start();
  io.run();
  EXPECT_FALSE(textfile.end()) << "as when the first file cannot be written";
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace rdma_exporter::app
