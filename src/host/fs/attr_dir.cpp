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
  for (auto& file : files_) {
    if (file) budget_.give_back();
    file.reset();
  }
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
  id_ = {};
  auto dir = fs_.open_dir(path_);
  if (!dir) return tl::unexpected(dir.error());
  // The identity first: what changes after it is seen by the next refresh.
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
  if (budget_.take()) files_[index] = std::move(file);
}

core::Result<std::string_view> AttrDir::read(std::size_t index, std::span<char> buffer) {
  if (files_[index]) {
    auto text = files_[index]->read(buffer);
    if (text && !budget_.over()) return text;
    files_[index].reset();
    budget_.give_back();
    if (text) return text;
    // ENODEV: the attribute behind this descriptor was removed; the same name may exist anew.
    if (!core::is_errno(text.error(), ENODEV)) return text;
  }
  auto file = open(index);
  if (!file) return tl::unexpected(file.error());
  auto text = (*file)->read(buffer);
  if (text) keep(index, std::move(*file));
  return text;
}

core::Result<std::string_view> AttrDir::read(std::string_view name, std::span<char> buffer) {
  const auto it = std::lower_bound(names_->begin(), names_->end(), name);
  if (it == names_->end() || *it != name) return core::os_error(ENOENT);
  return read(static_cast<std::size_t>(it - names_->begin()), buffer);
}

}  // namespace rdma_exporter::host
