// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/attr_text.h"

#include <algorithm>
#include <cerrno>

namespace rdma_exporter::collectors {

bool means_absent(const core::Error& error) {
  if (error.kind != core::Errc::os) return false;
  switch (error.os_errno) {
    case EINVAL:  // core/sysfs.c: the driver or its firmware does not answer this query, an empty GID slot
    case ENOSYS:  // core/sysfs.c get_perf_mad without process_mad
    case EOPNOTSUPP:  // drivers, for a function that may not query the register
    case ENOENT:      // not there, or it went between listing and opening
    case ENOTDIR:     // the same, of a directory
    case ENODEV:      // the device is being unregistered
    case ENODATA:     // no value (yet)
      return true;
    default:
      return false;
  }
}

void count_unless_absent(const core::Error& error, core::JobRun& run) {
  if (!means_absent(error)) run.count_read_error(core::reason(error));
}

std::string attr_text(core::Result<std::string> text, core::JobRun& run) {
  if (!text) {
    count_unless_absent(text.error(), run);
    return {};
  }
  text->resize(std::min<std::size_t>(text->size(), 128));
  return std::move(*text);
}

std::string attr_text(host::HostFs& sysfs, const std::string& path, core::JobRun& run) {
  return attr_text(sysfs.read(path), run);
}

void update_attr_text(std::string& kept, core::Result<std::string> text, core::JobRun& run) {
  const bool failed = !text && !means_absent(text.error());
  std::string now = attr_text(std::move(text), run);
  if (!failed) kept = std::move(now);
}

}  // namespace rdma_exporter::collectors
