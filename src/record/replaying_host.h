// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "host/host.h"
#include "record/player.h"

namespace rdma_exporter::record {

/// A host whose seams answer from the player, so that the same collectors and parsers run as on the recorded
/// host. Questions that were not asked then fail: ENOENT for files, EOPNOTSUPP for everything else. It has no
/// events.
host::Host replaying_host(std::shared_ptr<const Player> player, unsigned kept_files);

}  // namespace rdma_exporter::record
