// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/attr_files.h"

#include <cerrno>

namespace rdma_exporter::host {

core::Result<bool> AttrFiles::refresh() {
  auto changed = look();
  if (changed && !*changed) return changed;
  for (Asked& asked : asked_) asked.known = changed ? Known::nothing : Known::absent;
  return changed;
}

std::size_t AttrFiles::find(std::string_view name) {
  for (std::size_t tried = 0; tried < asked_.size(); ++tried) {
    if (next_ >= asked_.size()) next_ = 0;
    const Asked& asked = asked_[next_++];
    if (asked.name == name.data() && asked.size == name.size()) return next_ - 1;
  }
  asked_.reserve(asked_.size() + 1);  // there are few
  asked_.push_back({name.data(), static_cast<std::uint32_t>(name.size()), Known::nothing});
  resize(asked_.size());
  next_ = asked_.size();
  return next_ - 1;
}

core::Result<std::string_view> AttrFiles::read(std::string_view name, std::span<char> buffer) {
  const std::size_t index = find(name);
  Asked& asked = asked_[index];
  if (asked.known == Known::absent) return core::os_error(ENOENT);
  auto text = KeptFiles::read(index, name, buffer);
  if (text)
    asked.known = Known::there;
  else if (asked.known == Known::nothing && core::is_errno(text.error(), ENOENT))
    asked.known = Known::absent;
  return text;
}

}  // namespace rdma_exporter::host
