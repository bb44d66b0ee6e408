// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/fs/host_fs.h"

namespace rdma_exporter::test {

/// HostFs on another one that counts how often each file was opened and read, and fails where it is told to.
class WatchedFs : public host::HostFs {
 public:
  explicit WatchedFs(std::unique_ptr<host::HostFs> fs) : fs_(std::move(fs)) {}

  core::Result<std::vector<std::string>> list(const std::string& path) override {
    ++lists[path];
    return fs_->list(path);
  }
  core::Result<std::vector<host::DirEntry>> entries(const std::string& path) override {
    ++lists[path];
    return fs_->entries(path);
  }
  std::optional<std::size_t> fingerprint(const std::string& path) override {
    ++fingerprints[path];
    return fs_->fingerprint(path);
  }
  core::Result<std::string> read_link(const std::string& path) override { return fs_->read_link(path); }
  core::Result<std::string> canonical(const std::string& path) override { return fs_->canonical(path); }
  core::Result<host::FileId> stat(const std::string& path) override {
    ++stats[path];
    return fs_->stat(path);
  }
  core::Result<std::unique_ptr<host::OpenDir>> open_dir(const std::string& path) override {
    if (const auto it = failures.find(path); it != failures.end()) return core::os_error(it->second);
    return fs_->open_dir(path);
  }
  core::Result<std::unique_ptr<host::OpenFile>> open(const std::string& path) override {
    ++opens[path];
    auto file = fs_->open(path);
    if (!file) return file;
    return std::make_unique<File>(*this, path, std::move(*file));
  }
  const std::string& root() const override { return fs_->root(); }

  std::map<std::string, int> opens;
  std::map<std::string, int> reads;
  std::map<std::string, int> lists;
  std::map<std::string, int> fingerprints;
  std::map<std::string, int> stats;
  std::map<std::string, int> failures;  ///< path of a file or directory -> errno that a read of it gives

 protected:
  host::HostFs& watched() { return *fs_; }

 private:
  class File : public host::OpenFile {
   public:
    File(WatchedFs& fs, std::string path, std::unique_ptr<host::OpenFile> file)
        : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}
    core::Result<std::string_view> read(std::span<char> buffer) override {
      ++fs_.reads[path_];
      if (const auto it = fs_.failures.find(path_); it != fs_.failures.end())
        return core::os_error(it->second);
      return file_->read(buffer);
    }

   private:
    WatchedFs& fs_;
    std::string path_;
    std::unique_ptr<host::OpenFile> file_;
  };

  std::unique_ptr<host::HostFs> fs_;
};

/// One that claims to be a sysfs: inode numbers show whether a name stands for the same thing.
class WatchedSysfs : public WatchedFs {
 public:
  using WatchedFs::WatchedFs;
  bool directories_change() const override { return false; }
  std::optional<std::size_t> fingerprint(const std::string& path) override {
    ++fingerprints[path];
    const auto entries = watched().entries(path);
    if (!entries || entries->empty()) return std::nullopt;
    std::string all;
    for (const host::DirEntry& entry : *entries) all += entry.name + " " + std::to_string(entry.inode) + "\n";
    return std::hash<std::string>()(all);
  }
};

}  // namespace rdma_exporter::test
