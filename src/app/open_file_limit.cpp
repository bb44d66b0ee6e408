// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/open_file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "log/log.h"

namespace rdma_exporter::app {
namespace {
// What is open for a moment only: files and directories that workers read. And the log, libraries, the probe.
constexpr rlim_t kReserve = 1024;
}  // namespace

unsigned raise_open_file_limit(unsigned kept_files, unsigned connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t wanted = rlim_t{kept_files} + connections + kReserve;
  if (limit.rlim_cur < wanted) {
    rlimit raised = limit;
    raised.rlim_cur = std::min(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= wanted) return kept_files;
  // Of a small limit half is left to connections and everything else.
  const rlim_t reserve = std::min(kReserve + connections, limit.rlim_cur / 2);
  const auto kept = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur - reserve, kept_files));
  log::info("open file limit is below what is wanted: some files are opened for each read",
            {{"limit", std::to_string(limit.rlim_cur)}, {"wanted", std::to_string(wanted)}});
  return kept;
}

}  // namespace rdma_exporter::app
