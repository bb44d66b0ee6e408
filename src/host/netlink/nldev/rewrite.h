// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "host/netlink/netlink.h"

// Answers of RDMA netlink with parts removed or values replaced, for recordings that leave this machine.
namespace rdma_exporter::host::nldev {

/// An answer without confidential parts: keys of memory regions and protection domains, memory addresses,
/// what drivers add in formats of their own (except the mark of on-demand paging), raw dumps. Incomplete
/// attributes are removed.
std::vector<std::byte> without_secrets(Bytes payload);

/// Changes values in place, each of the size that it has.
struct Identities {
  std::function<void(std::span<std::byte, 8> guid)> guid;             ///< a number of this machine
  std::function<void(std::span<std::byte, 8> prefix)> subnet_prefix;  ///< the same
  std::function<void(std::span<std::byte> sockaddr)> address;         ///< struct sockaddr_*
};

/// An answer in which the identity of the host was replaced: GUIDs, subnet prefixes, addresses of
/// connections.
std::vector<std::byte> with_identities(Bytes payload, const Identities& identities);

}  // namespace rdma_exporter::host::nldev
