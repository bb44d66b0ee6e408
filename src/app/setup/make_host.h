// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "config/config.h"
#include "core/result.h"
#include "host/host.h"
#include "record/player.h"

namespace rdma_exporter::app {

/// What a host is read for.
enum class Purpose : unsigned char {
  serve,  ///< many collections: what happens between them is listened to
  once,   ///< a single one
};

/// What the parser of the configuration cannot know: that what is to be read exists. The error is a message.
core::Result<void> check_host(const config::Config& config);

/// Whether netlink and verbs are asked: they speak for the running kernel, so they belong to its own sysfs
/// only, not to a tree of files or a recording.
bool use_kernel(const config::Config& config);

/// Opens the archive that --replay names. nullptr when it names none: a directory, or nothing at all. The
/// error is a message.
core::Result<std::shared_ptr<record::Player>> open_recording(const config::Config& config);

/// The host that the configuration means: this one, a tree of files, or what `player` shows of a recording.
/// `config` has passed check_host(); `kept_files`: how many files may stay open.
host::Host make_host(const config::Config& config, unsigned kept_files, Purpose purpose,
                     const std::shared_ptr<record::Player>& player = nullptr);

}  // namespace rdma_exporter::app
