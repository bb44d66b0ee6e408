// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/system/process.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <initializer_list>
#include <string>

#include "log/log.h"

namespace rdma_exporter::app {
namespace {

void mask_hangup(int how) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGHUP);
  ::pthread_sigmask(how, &set, nullptr);
}

// What is open for a moment only: files and directories that workers read. And the log, libraries, the probe.
constexpr rlim_t kReserve = 1024;

}  // namespace

void hold_signals() {
  for (const int signal : {SIGPIPE, SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  mask_hangup(SIG_BLOCK);
}

void let_hangup_through() { mask_hangup(SIG_UNBLOCK); }

OpenFiles raise_open_file_limit(const OpenFiles& wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {0, wanted.connections};
  const rlim_t all = rlim_t{wanted.kept_files} + wanted.connections + kReserve;
  if (limit.rlim_cur < all) {
    rlimit raised = limit;
    raised.rlim_cur = std::min(all, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= all) return wanted;
  const auto files = static_cast<unsigned>(limit.rlim_cur);  // less than `all`
  const OpenFiles fitting{std::min(wanted.kept_files, files / 2),
                          std::min(wanted.connections, std::max(files / 4, 1U))};
  static std::atomic<rlim_t> logged = 0;  // a reload that wants as much says nothing new
  if (logged.exchange(all) != all) {
    log::info("open file limit is too low, so some files are opened again for each read",
              {{"limit", std::to_string(limit.rlim_cur)},
               {"wanted", std::to_string(all)},
               {"connections", std::to_string(fitting.connections)}});
  }
  return fitting;
}

}  // namespace rdma_exporter::app
