// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "doctor/gather/facts.h"
#include "host/host.h"
#include "host/topology/device.h"

// Reading of the facts, through the seams of the host and with its parsers. Each call may block for as long
// as the kernel or a driver's firmware likes; thread-safe.
namespace rdma_exporter::doctor {

/// What the process that asks and its user may do. nullopt where the host is a recording or a tree.
SystemFacts gather_system(host::Host& host);

DeviceFacts gather_device(host::Host& host, const std::shared_ptr<const host::Device>& device);

}  // namespace rdma_exporter::doctor
