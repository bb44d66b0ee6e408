// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/collector.h"

#include "collectors/counters/carry_over.h"
#include "collectors/ethtool/netdev_shared.h"
#include "facts/fact_cache.h"

namespace rdma_exporter::collectors {

std::shared_ptr<CarryOver> make_carry_over() { return std::make_shared<CarryOver>(); }

std::shared_ptr<NetdevSharing> make_netdev_sharing() { return std::make_shared<NetdevSharing>(); }

std::shared_ptr<facts::FactCache> make_fact_cache() { return std::make_shared<facts::FactCache>(); }

}  // namespace rdma_exporter::collectors
