// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The tables of hw_counters, one file per driver in drivers/infiniband; hw_table.h selects one.
#pragma once

#include <span>
#include <string_view>

#include "collectors/counters/tables/counter_row.h"

namespace rdma_exporter::collectors::table {

std::span<const CounterRow> mlx5_port();
std::span<const CounterRow> mlx5_device();
bool mlx5_other_spelling(std::string_view raw);

std::span<const CounterRow> mlx4_port();
std::span<const CounterRow> mlx4_device();

std::span<const CounterRow> bnxt_re_port();

std::span<const CounterRow> irdma_port();
bool irdma_other_spelling(std::string_view raw);

std::span<const CounterRow> efa_port();
std::span<const CounterRow> efa_device();

std::span<const CounterRow> erdma_port();

std::span<const CounterRow> hns_port();

std::span<const CounterRow> cxgb4_device();

std::span<const CounterRow> rxe_port();

std::span<const CounterRow> mana_port();
std::span<const CounterRow> mana_device();

std::span<const CounterRow> hfi1_port();

}  // namespace rdma_exporter::collectors::table
