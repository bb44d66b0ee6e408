// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <string>

#include "host/host_fs.h"

namespace rdma_exporter::collectors {

/// Text of an attribute for use as a label value: empty when it cannot be read (most attributes exist for some
/// drivers only), cut at 128 bytes (node_desc, the longest legal one, has 64).
inline std::string attr_text(host::HostFs& sysfs, const std::string& path) {
  std::string text = sysfs.read(path).value_or("");
  text.resize(std::min<std::size_t>(text.size(), 128));
  return text;
}

}  // namespace rdma_exporter::collectors
