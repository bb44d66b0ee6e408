// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// What the process sets for itself at its start: signals and its limit of open files.
namespace rdma_exporter::app {

/// The first thing main() does. By default SIGHUP, SIGUSR1 and SIGUSR2 end a process: a service manager that
/// asks for a reload in the first milliseconds would end the daemon. SIGHUP waits until let_hangup_through();
/// the others, of which the exporter makes no use, and SIGPIPE are ignored.
void hold_signals();

/// For the calling thread and those it starts: once the daemon listens to SIGHUP, or where it ends the
/// process as that of a terminal that is closed.
void let_hangup_through();

/// How many file descriptors go where.
struct OpenFiles {
  unsigned kept_files = 0;   ///< kept open between scrapes
  unsigned connections = 1;  ///< of clients
};

/// Raises the process's soft limit of open files as far as the hard limit allows, so that `wanted` fits.
/// Returns what does. Of a small limit at least half stays free of kept files, and connections get at most a
/// quarter of it.
OpenFiles raise_open_file_limit(const OpenFiles& wanted);

}  // namespace rdma_exporter::app
