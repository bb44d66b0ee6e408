// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "asio/socket.h"
#include "core/result.h"
#include "http/http_counters.h"
#include "task/loop_tasks.h"
#include "web/auth/gate.h"
#include "web/policy/policy_guard.h"
#include "web/policy/policy_loader.h"

namespace rdma_exporter::web {

/// Keeps a Gate's policy what the file of --web.config.file says. Every second a thread of its own looks
/// whether the file, or one that it names, was changed; one that has not changed since the last look is read.
/// A file that is wrong, or that would weaken the policy, leaves it as it is, is logged once and counted. Io
/// thread only.
class WebConfigFile : public std::enable_shared_from_this<WebConfigFile> {
 public:
  /// Called once with what puts the file's policy in force, to be called at once or never, or with what is
  /// wrong.
  using Prepared = std::function<void(const core::Result<std::function<void()>>&)>;

  WebConfigFile(asio::io_context& io, std::string path, Gate& gate, http::HttpCounters& counters);

  /// Reads it for the first time, on this thread. The error is a whole message.
  core::Result<void> load();
  /// Begins to look.
  void start();
  void stop();
  /// Reads it now whether it changed or not. A file system that hangs answers late.
  void prepare(const Prepared& answer);

 private:
  /// What the looks have seen. One job at a time uses it.
  struct Seen {
    std::vector<std::string> files;
    std::vector<FileStamp> read;    ///< when they were read last
    std::vector<FileStamp> latest;  ///< at the last look
  };

  void wait();
  void look();
  void report_late_look();
  void end_look();
  /// Logs and counts what is wrong with it.
  core::Result<void> check(const core::Result<std::shared_ptr<const Policy>>& loaded);
  void take(const std::shared_ptr<const Policy>& policy);
  static bool is_to_be_read(Seen& seen);
  static core::Result<std::shared_ptr<const Policy>> read(const std::string& path, Seen& seen);

  std::string path_;
  Gate& gate_;
  http::HttpCounters& counters_;
  PolicyGuard guard_;
  Timer timer_;
  task::LoopTasks tasks_;
  std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
  std::chrono::steady_clock::time_point look_began_;
  bool looking_ = false;
  bool late_ = false;         ///< the look has been reported as late
  bool read_anyway_ = false;  ///< at the next look, also what has not changed
  bool stopped_ = false;
};

}  // namespace rdma_exporter::web
