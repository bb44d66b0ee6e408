// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "host/host.h"
#include "record/player.h"

namespace rdma_exporter::record {

/// A host whose seams answer what the player shows, so that the same collectors and parsers run as on the
/// host that was recorded. What nobody asked then does not exist: ENOENT of a file, EOPNOTSUPP of the rest.
/// It has no events.
host::Host replaying_host(std::shared_ptr<const Player> player, unsigned kept_files);

}  // namespace rdma_exporter::record
