// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/kept_files.h"

#include <cerrno>
#include <utility>

namespace rdma_exporter::host {

KeptFiles::KeptFiles(HostFs& fs, std::string path, OpenFileBudget& budget)
    : fs_(fs), path_(std::move(path)), budget_(budget) {}

KeptFiles::~KeptFiles() { forget(); }

void KeptFiles::forget() {
  if (seen_ && seen_->dir) budget_.give_back();
  seen_.reset();
  close_files();
  is_known_ = false;
}

void KeptFiles::close_files(std::size_t from) {
  for (std::size_t i = from; i < files_.size(); ++i)
    if (is_kept(i)) drop(i);
}

bool KeptFiles::is_unchanged() const {
  if (!seen_) return true;
  const auto id = seen_->dir ? seen_->dir->stat() : fs_.stat(path_);
  return id && *id == seen_->id;
}

core::Result<bool> KeptFiles::look() {
  if (is_known_ && is_unchanged()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < absent_until_) return core::os_error(ENOENT);
  forget();
  const auto found = look_anew();
  if (!found) {
    budget_.ran_out(found.error());
    if (core::is_errno(found.error(), ENOENT)) absent_until_ = now + kAbsentFor;
    return tl::unexpected(found.error());
  }
  is_known_ = true;
  return true;
}

// Before its files are: the next call notices what changes after this one.
core::Result<void> KeptFiles::look_anew() {
  auto dir = fs_.open_dir(path_);
  if (!dir) return tl::unexpected(dir.error());
  const auto id = (*dir)->stat();
  if (!id) return tl::unexpected(id.error());
  if (!fs_.directories_change()) return {};
  seen_ = std::make_unique<Seen>(Seen{nullptr, *id});
  if (budget_.take()) seen_->dir = std::move(*dir);
  return {};
}

void KeptFiles::resize(std::size_t files) {
  close_files(files);
  files_.resize(files);
  if (others_) others_->resize(files);
}

core::Result<std::unique_ptr<OpenFile>> KeptFiles::open(std::string_view name) {
  const std::string path = path_ + "/" + std::string(name);
  auto file = fs_.open(path);
  if (file || !budget_.ran_out(file.error())) return file;
  close_files();
  return fs_.open(path);
}

void KeptFiles::keep(std::size_t index, std::unique_ptr<OpenFile> file) {
  if (!budget_.take()) return;
  files_[index] = file->release();
  if (files_[index].valid()) return;
  if (!others_) others_ = std::make_unique<OtherFiles>(files_.size());
  (*others_)[index] = std::move(file);
}

void KeptFiles::drop(std::size_t index) {
  files_[index] = Fd();
  if (others_) (*others_)[index].reset();
  budget_.give_back();
}

core::Result<std::string_view> KeptFiles::read(std::size_t index, std::string_view name,
                                               std::span<char> buffer) {
  const bool kept = is_kept(index);
  auto text = !kept                   ? open_and_read(index, name, buffer)
              : files_[index].valid() ? read_from_start(files_[index], buffer)
                                      : (*others_)[index]->read(buffer);
  if (kept && (!text || budget_.over())) {
    drop(index);
    // ENODEV: the attribute behind this descriptor was removed; the name may exist again.
    if (!text && core::is_errno(text.error(), ENODEV)) text = open_and_read(index, name, buffer);
  }
  return text;
}

core::Result<std::string_view> KeptFiles::open_and_read(std::size_t index, std::string_view name,
                                                        std::span<char> buffer) {
  auto file = open(name);
  if (!file) return tl::unexpected(file.error());
  auto text = (*file)->read(buffer);
  if (text) keep(index, std::move(*file));
  return text;
}

}  // namespace rdma_exporter::host
