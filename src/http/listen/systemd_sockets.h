// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <vector>

#include "asio/socket.h"
#include "core/result.h"

namespace rdma_exporter::http {

/// Takes the listening sockets that systemd passes to a service with a socket unit: file descriptors from 3
/// on, announced in LISTEN_PID and LISTEN_FDS (sd_listen_fds(3)). Call once per process. The error is a
/// complete message: nothing was passed, or something that is not a listening stream socket. libsystemd would
/// do the same but cost more than a megabyte.
core::Result<std::vector<StreamAcceptor>> systemd_listeners(asio::io_context& io);

}  // namespace rdma_exporter::http
