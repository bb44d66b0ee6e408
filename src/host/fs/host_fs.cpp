// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/host_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "core/text/kernel_text.h"

namespace rdma_exporter::host {
namespace {

using core::os_error;

class RealOpenFile : public OpenFile {
 public:
  explicit RealOpenFile(Fd fd) : fd_(std::move(fd)) {}

  core::Result<std::string_view> read(std::span<char> buffer) override {
    return read_from_start(fd_, buffer);
  }
  Fd release() override { return std::move(fd_); }

 private:
  Fd fd_;
};

core::Result<FileId> file_id(const struct ::stat& info, bool is_sysfs) {
  if (info.st_nlink == 0) return os_error(ENOENT);
  const std::int64_t modified = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  return FileId{info.st_dev, info.st_ino, is_sysfs ? 0 : modified, S_ISDIR(info.st_mode)};
}

class RealOpenDir : public OpenDir {
 public:
  RealOpenDir(Fd fd, bool is_sysfs) : fd_(std::move(fd)), is_sysfs_(is_sysfs) {}

  core::Result<FileId> stat() override {
    struct ::stat info {};
    if (::fstat(fd_.get(), &info) != 0) return os_error(errno);
    return file_id(info, is_sysfs_);
  }

 private:
  Fd fd_;
  bool is_sysfs_;
};

constexpr std::size_t kPrime = 0x100000001b3;  // of the hash function FNV-1a with 64 bits

Fd open_to_list(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Calls `visit(name, inode)` for each entry that has not been read yet; at most kMaxEntries. Not with libc's
// readdir, which would keep a buffer of this size for each open directory.
template <typename Visit>
core::Result<void> visit_entries(const Fd& dir, const Visit& visit) {
  struct Buffer {
    alignas(dirent64) std::array<char, 32768> bytes;
  };
  Buffer buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by getdents64()
  const char* const begin = buffer.bytes.data();
  for (std::size_t count = 0;;) {
    const ssize_t size = ::getdents64(dir.get(), buffer.bytes.data(), buffer.bytes.size());
    if (size < 0) return os_error(errno);
    if (size == 0) return {};
    for (const char* at = begin; at < begin + size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (count++ == HostFs::kMaxEntries) return core::too_long_error();
      visit(name, entry->d_ino);
    }
  }
}

core::Result<std::vector<DirEntry>> read_entries(const Fd& dir) {
  std::vector<DirEntry> entries;
  const auto visited = visit_entries(dir, [&](std::string_view name, ino64_t inode) {
    entries.push_back({std::string(name), inode});
  });
  if (!visited) return tl::unexpected(visited.error());
  std::sort(entries.begin(), entries.end());
  return entries;
}

class RealFs : public HostFs {
 public:
  explicit RealFs(std::string root) : root_(std::move(root)), is_sysfs_(is_real_sysfs(root_)) {}

  const std::string& root() const override { return root_; }
  bool directories_change() const override { return !is_sysfs_; }

  core::Result<std::vector<std::string>> list(const std::string& path) override {
    return list_anew(path).map([](std::vector<DirEntry> entries) {
      std::vector<std::string> names;
      names.reserve(entries.size());
      for (DirEntry& entry : entries) names.push_back(std::move(entry.name));
      return names;
    });
  }

  // To open a directory costs as much as to list it. An empty one may have been removed, and there may be
  // another one of its name.
  core::Result<std::vector<DirEntry>> entries(const std::string& path) override {
    if (!is_sysfs_) return list_anew(path);
    const std::lock_guard lock(mutex_);
    Fd& dir = kept_[path];
    if (dir.valid() && ::lseek(dir.get(), 0, SEEK_SET) == 0)
      if (auto listed = read_entries(dir); listed && !listed->empty()) return listed;
    dir = open_to_list(absolute(path));
    if (!dir.valid()) return os_error(errno);
    return read_entries(dir);
  }

  std::optional<std::size_t> fingerprint(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const auto kept = kept_.find(path);
    if (kept == kept_.end() || !kept->second.valid()) return std::nullopt;
    if (::lseek(kept->second.get(), 0, SEEK_SET) != 0) return std::nullopt;
    std::size_t value = 0;
    const auto visited = visit_entries(kept->second, [&value](std::string_view name, ino64_t inode) {
      for (const std::size_t part : {std::hash<std::string_view>()(name), inode})
        value = (value ^ part) * kPrime;
    });
    return visited && value != 0 ? std::optional(value) : std::nullopt;
  }

  core::Result<std::string> read_link(const std::string& path) override {
    std::array<char, 4096> target{};
    const ssize_t length = ::readlink(absolute(path).c_str(), target.data(), target.size());
    if (length < 0) return os_error(errno);
    return std::string(target.data(), static_cast<std::size_t>(length));
  }

  core::Result<std::string> canonical(const std::string& path) override {
    const auto real_root = real_path(root_);
    auto real = real_path(absolute(path));
    if (!real || !real_root) return real;
    if (!real->starts_with(*real_root + "/")) return os_error(ENOENT);
    return real->substr(real_root->size() + 1);
  }

  core::Result<FileId> stat(const std::string& path) override {
    struct ::stat info {};
    if (::stat(absolute(path).c_str(), &info) != 0) return os_error(errno);
    return file_id(info, is_sysfs_);
  }

  core::Result<std::unique_ptr<OpenDir>> open_dir(const std::string& path) override {
    Fd fd(::open(absolute(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return os_error(errno);
    return std::make_unique<RealOpenDir>(std::move(fd), is_sysfs_);
  }

  core::Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    Fd fd(::open(absolute(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd.valid()) return os_error(errno);
    return std::make_unique<RealOpenFile>(std::move(fd));
  }

 private:
  std::string absolute(const std::string& path) const { return root_ + "/" + path; }

  core::Result<std::vector<DirEntry>> list_anew(const std::string& path) const {
    const Fd dir = open_to_list(absolute(path));
    if (!dir.valid()) return os_error(errno);
    return read_entries(dir);
  }

  static core::Result<std::string> real_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    if (!real) return os_error(errno);
    return std::string(real.get());
  }

  std::string root_;
  bool is_sysfs_;
  std::mutex mutex_;                // guards kept_ and the places in its directories
  std::map<std::string, Fd> kept_;  // the few that entries() was asked for
};

}  // namespace

core::Result<std::vector<DirEntry>> HostFs::entries(const std::string& path) {
  return list(path).map([](std::vector<std::string> names) {
    std::vector<DirEntry> entries;
    for (std::string& name : names) entries.push_back({std::move(name)});
    return entries;
  });
}

core::Result<std::string_view> read_from_start(const Fd& fd, std::span<char> buffer) {
  // Not libc's pread: as a cancellation point it costs two more atomic operations in a process with threads.
  ssize_t length = ::syscall(SYS_pread64, fd.get(), buffer.data(), buffer.size(), off_t{0});
  // Pipes and sockets cannot be read at an offset; a tree made of them is a test of a stuck read.
  if (length < 0 && errno == ESPIPE) length = ::read(fd.get(), buffer.data(), buffer.size());
  if (length < 0) return os_error(errno);
  const auto size = static_cast<std::size_t>(length);
  if (size == buffer.size()) return core::too_long_error();
  return std::string_view(buffer.data(), size);
}

core::Result<std::string> HostFs::read(const std::string& path) {
  const auto file = open(path);
  if (!file) return tl::unexpected(file.error());
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = (*file)->read(buffer);
  if (!text) return tl::unexpected(text.error());
  return std::string(core::trim(*text));
}

core::Result<std::string> HostFs::link_name(const std::string& path) {
  return read_link(path).map([](const std::string& target) { return target.substr(target.rfind('/') + 1); });
}

std::unique_ptr<HostFs> make_host_fs(std::string root) { return std::make_unique<RealFs>(std::move(root)); }

bool is_real_sysfs(const std::string& root) {
  struct ::statfs info {};
  return ::statfs(root.c_str(), &info) == 0 && info.f_type == SYSFS_MAGIC;
}

}  // namespace rdma_exporter::host
