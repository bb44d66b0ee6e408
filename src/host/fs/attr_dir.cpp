// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/attr_dir.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/intern.h"

namespace rdma_exporter::host {

AttrDir::AttrDir(HostFs& fs, std::string path, OpenFileBudget& budget)
    : fs_(fs), path_(std::move(path)), budget_(budget), names_(core::intern(std::vector<std::string>())) {}

AttrDir::~AttrDir() { close_all(); }

void AttrDir::close_all() {
  if (dir_) budget_.give_back();
  dir_.reset();
  close_files();
}

void AttrDir::close_files() {
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (is_kept(i)) drop(i);
}

core::Result<bool> AttrDir::refresh() {
  if (id_ != FileId{}) {
    if (!fs_.directories_change()) return false;
    const auto id = dir_ ? dir_->stat() : fs_.stat(path_);
    if (id && *id == id_) return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < absent_until_) return core::os_error(ENOENT);
  auto listed = list_again();
  if (!listed) budget_.ran_out(listed.error());
  if (!listed && core::is_errno(listed.error(), ENOENT)) absent_until_ = now + kAbsentFor;
  return listed;
}

core::Result<bool> AttrDir::list_again() {
  close_all();
  names_ = core::intern(std::vector<std::string>());
  files_.clear();
  others_.clear();
  asked_.clear();
  id_ = {};
  auto dir = fs_.open_dir(path_);
  if (!dir) return tl::unexpected(dir.error());
  // The identity is read first: the next refresh notices what changes after it.
  const auto id = (*dir)->stat();
  if (!id) return tl::unexpected(id.error());
  auto names = fs_.list(path_);
  if (!names) return tl::unexpected(names.error());
  names_ = core::intern(std::move(*names));
  files_.resize(names_->size());
  id_ = *id;
  if (fs_.directories_change() && budget_.take()) dir_ = std::move(*dir);
  return true;
}

core::Result<std::unique_ptr<OpenFile>> AttrDir::open(std::size_t index) {
  const std::string path = path_ + "/" + (*names_)[index];
  auto file = fs_.open(path);
  if (file || !budget_.ran_out(file.error())) return file;
  close_files();
  return fs_.open(path);
}

void AttrDir::keep(std::size_t index, std::unique_ptr<OpenFile> file) {
  if (!budget_.take()) return;
  files_[index] = file->release();
  if (files_[index].valid()) return;
  others_.resize(files_.size());
  others_[index] = std::move(file);
}

void AttrDir::drop(std::size_t index) {
  files_[index] = Fd();
  if (!others_.empty()) others_[index].reset();
  budget_.give_back();
}

core::Result<std::string_view> AttrDir::read(std::size_t index, std::span<char> buffer) {
  const bool kept = is_kept(index);
  auto text = !kept                   ? open_and_read(index, buffer)
              : files_[index].valid() ? read_from_start(files_[index], buffer)
                                      : others_[index]->read(buffer);
  if (kept && (!text || budget_.over())) {
    drop(index);
    // ENODEV: the attribute behind this descriptor was removed; the name may exist again.
    if (!text && core::is_errno(text.error(), ENODEV)) text = open_and_read(index, buffer);
  }
  return text;
}

core::Result<std::string_view> AttrDir::open_and_read(std::size_t index, std::span<char> buffer) {
  auto file = open(index);
  if (!file) return tl::unexpected(file.error());
  auto text = (*file)->read(buffer);
  if (text) keep(index, std::move(*file));
  return text;
}

std::optional<std::size_t> AttrDir::find(std::string_view name) {
  constexpr std::size_t kMaxAsked = 16;
  for (std::size_t tried = 0; tried < asked_.size(); ++tried) {
    if (next_asked_ >= asked_.size()) next_asked_ = 0;
    const Asked& asked = asked_[next_asked_++];
    if (asked.name.data() == name.data() && asked.name.size() == name.size()) return asked.index;
  }
  const std::vector<std::string>& names = *names_;
  const auto it = std::lower_bound(names.begin(), names.end(), name);
  if (it == names.end() || *it != name) return std::nullopt;
  const auto index = static_cast<std::size_t>(it - names.begin());
  if (asked_.size() < kMaxAsked) asked_.push_back({name, index});
  next_asked_ = asked_.size();
  return index;
}

core::Result<std::string_view> AttrDir::read(std::string_view name, std::span<char> buffer) {
  const auto index = find(name);
  return index ? read(*index, buffer) : core::os_error(ENOENT);
}

}  // namespace rdma_exporter::host
