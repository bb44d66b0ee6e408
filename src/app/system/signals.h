// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

namespace rdma_exporter::app {

/// The first thing main() does. By default SIGHUP, SIGUSR1 and SIGUSR2 end a process: a service manager that
/// asks for a reload in the first milliseconds would end the daemon. SIGHUP waits until let_hangup_through();
/// the others, of which the exporter makes no use, and SIGPIPE are ignored.
void hold_signals();

/// For the calling thread and those it starts: once the daemon listens to SIGHUP, or where it ends the
/// process as that of a terminal that is closed.
void let_hangup_through();

}  // namespace rdma_exporter::app
