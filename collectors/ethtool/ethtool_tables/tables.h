// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The tables of driver statistics, one file per driver in drivers/net/ethernet; ethtool_table.h selects one.
#pragma once

#include <span>

#include "collectors/counters/tables/counter_row.h"

namespace rdma_exporter::collectors::ethtool_table {

std::span<const CounterRow> bnxt();
std::span<const CounterRow> cxgb4();
std::span<const CounterRow> ena();
std::span<const CounterRow> hns3();
std::span<const CounterRow> i40e();
std::span<const CounterRow> ice();
std::span<const CounterRow> ionic();
std::span<const CounterRow> mana();
std::span<const CounterRow> mlx4();
std::span<const CounterRow> mlx5();
std::span<const CounterRow> qede();

}  // namespace rdma_exporter::collectors::ethtool_table
