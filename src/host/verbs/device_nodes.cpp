// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/verbs/device_nodes.h"

#include <sys/stat.h>

#include <cerrno>

#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

core::Result<std::vector<DeviceNode>> device_nodes() {
  const std::string folder = "/dev/infiniband";
  struct ::stat info {};
  if (::stat(folder.c_str(), &info) != 0) return core::os_error(errno, folder);
  const bool open_to_all = (info.st_mode & S_IXOTH) != 0;
  const auto names = make_host_fs(folder)->list(".");
  if (!names) return tl::unexpected(names.error());
  std::vector<DeviceNode> nodes;
  for (const std::string& name : *names) {
    if (name != "rdma_cm" && !name.starts_with("uverbs")) continue;
    if (::stat((folder + "/" + name).c_str(), &info) != 0) continue;  // went in between
    const auto may = [&](mode_t bits) { return (info.st_mode & bits) == bits; };
    nodes.push_back({name, open_to_all && may(S_IROTH | S_IWOTH), may(S_IRGRP | S_IWGRP)});
  }
  return nodes;
}

}  // namespace rdma_exporter::host
