// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/attr_files.h"

#include <cerrno>

namespace rdma_exporter::host {

core::Result<bool> AttrFiles::refresh() {
  auto changed = look();
  if (changed && !*changed) return changed;
  for (Asked& asked : asked_) {
    asked.was_read = false;
    asked.absent = !changed;
  }
  return changed;
}

std::size_t AttrFiles::find(std::string_view name) {
  for (std::size_t tried = 0; tried < asked_.size(); ++tried) {
    if (next_ >= asked_.size()) next_ = 0;
    const Asked& asked = asked_[next_++];
    if (asked.name == name.data() && asked.size == name.size()) return next_ - 1;
  }
  asked_.reserve(asked_.size() + 1);  // there are few
  asked_.push_back({name.data(), static_cast<std::uint32_t>(name.size()) & kMaxSize, false, false});
  resize(asked_.size());
  next_ = asked_.size();
  return next_ - 1;
}

core::Result<std::string_view> AttrFiles::read(std::string_view name, std::span<char> buffer) {
  const std::size_t index = find(name);
  Asked& asked = asked_[index];
  if (asked.absent) return core::os_error(ENOENT);
  auto text = KeptFiles::read(index, name, buffer);
  if (text)
    asked.was_read = true;
  else
    asked.absent = !asked.was_read && core::is_errno(text.error(), ENOENT);
  return text;
}

}  // namespace rdma_exporter::host
