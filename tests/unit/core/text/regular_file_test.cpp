// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::core {
namespace {

std::string problem(const std::string& path) {
  const auto file = RegularFile::open(path);
  return file ? "opened" : unreadable("it", file.error()).value().context.text();
}

TEST(RegularFile, IsReadUpToALimit) {
  test::TempTree tree;
  tree.write("file", std::string(40'000, 'x'));
  const auto file = RegularFile::open(tree.path("file"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->read(40'000).value_or(""), std::string(40'000, 'x'));
  EXPECT_EQ(RegularFile::open(tree.path("file"))->read(39'999).error().kind, Errc::too_long);
}

TEST(RegularFile, IsNoPipeDeviceOrFolder) {
  const test::TempTree tree;
  ASSERT_EQ(::mkfifo(tree.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(problem(tree.path("fifo")), "it: is not a regular file") << "and nobody waits for a writer";
  EXPECT_EQ(problem("/dev/zero"), "it: is not a regular file");
  EXPECT_EQ(problem(tree.root()), "it: Is a directory");
}

TEST(RegularFile, ThatIsMissingIsAFaultOfTheEnvironment) {
  const Error error = unreadable("it", RegularFile::open("/does/not/exist").error()).value();
  EXPECT_EQ(error.context.text(), "it: No such file or directory");
  EXPECT_EQ(error.os_errno, ENOENT);
}

}  // namespace
}  // namespace rdma_exporter::core
