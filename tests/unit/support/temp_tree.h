// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace rdma_exporter::test {

/// A directory of its own, removed at the end.
class TempTree {
 public:
  TempTree() {
    std::string name = (std::filesystem::temp_directory_path() / "rdma_exporter_test_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  const std::string& root() const { return root_; }
  std::string path(const std::string& relative) const { return root_ + "/" + relative; }

  /// Writes a file in place, with its directories.
  void write(const std::string& relative, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(relative)).parent_path());
    std::ofstream(path(relative), std::ios::binary) << text;
  }
  void mkdir(const std::string& relative) const { std::filesystem::create_directories(path(relative)); }
  void link(const std::string& target, const std::string& relative) const {
    std::filesystem::create_directories(std::filesystem::path(path(relative)).parent_path());
    std::filesystem::create_symlink(target, path(relative));
  }
  void remove(const std::string& relative) const { std::filesystem::remove_all(path(relative)); }

 private:
  std::string root_;
};

}  // namespace rdma_exporter::test
