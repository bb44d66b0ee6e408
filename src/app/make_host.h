// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "config/config.h"
#include "core/result.h"
#include "host/host.h"

namespace rdma_exporter::app {

/// What a host is read for.
enum class Purpose : unsigned char {
  serve,  ///< many collections: what happens between them is listened to
  once,   ///< a single one
};

/// What the parser of the configuration cannot know: that what is to be read exists. The error is a message.
core::Result<void> check_host(const config::Config& config);

/// The host that the configuration means: this one, a tree of files or a recording. `config` has passed
/// check_host(); `kept_files`: how many files may stay open.
host::Host make_host(const config::Config& config, unsigned kept_files, Purpose purpose);

}  // namespace rdma_exporter::app
