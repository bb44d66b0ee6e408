// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "config/config.h"
#include "config/flags/option_rows.h"

// Sections of option_table() that are long enough for a file of their own.
namespace rdma_exporter::config {

/// The section probe.
void add_probe_options(OptionRows& rows);

/// The section of one collector: what all have, then what is special to it.
void add_collector_options(OptionRows& rows, const CollectorChoice& choice);

}  // namespace rdma_exporter::config
