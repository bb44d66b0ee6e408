// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/attr_dir.h"

#include <utility>

namespace rdma_exporter::host {

AttrDir::AttrDir(HostFs& fs, std::string path, OpenFileBudget& budget)
    : KeptFiles(fs, std::move(path), budget), names_(core::intern(std::vector<std::string>())) {}

core::Result<bool> AttrDir::refresh() {
  const auto changed = look();
  if (!changed) return fail(changed.error());
  if (!*changed) return false;
  auto names = fs().list(path());
  if (!names) {
    forget();
    budget().ran_out(names.error());
    return fail(names.error());
  }
  names_ = core::intern(std::move(*names));
  resize(names_->size());
  return true;
}

core::Result<bool> AttrDir::fail(const core::Error& error) {
  resize(0);
  names_ = core::intern(std::vector<std::string>());
  return tl::unexpected(error);
}

}  // namespace rdma_exporter::host
