// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "host/netlink/netlink.h"

// Answers of RDMA netlink with less in them, or with other values: for recordings that are given away.
namespace rdma_exporter::host::nldev {

/// An answer without what nobody else may know: keys of memory regions and protection domains, addresses of
/// memory, what drivers add in a form of their own (but for the mark of on-demand paging), raw dumps. What is
/// not a whole attribute is cut.
std::vector<std::byte> without_secrets(Bytes payload);

/// Changes values in place, each of the size that it has.
struct Identities {
  std::function<void(std::span<std::byte, 8> guid)> guid;             ///< a number of this machine
  std::function<void(std::span<std::byte, 8> prefix)> subnet_prefix;  ///< the same
  std::function<void(std::span<std::byte> sockaddr)> address;         ///< struct sockaddr_*
};

/// An answer in which whose it is was changed: GUIDs, subnet prefixes, addresses of connections.
std::vector<std::byte> with_identities(Bytes payload, const Identities& identities);

}  // namespace rdma_exporter::host::nldev
