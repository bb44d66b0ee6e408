// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/result.h"
#include "http/handler.h"
#include "http/http_counters.h"

namespace boost::asio {
class io_context;
}

namespace rdma_exporter::task {
class LoopTasks;
}

namespace rdma_exporter::web {

class Gate;
class WebConfigFile;

/// What the web config file asks for, in force for a server: TLS, passwords, rate limit, headers. Without a
/// file, plain HTTP for everybody. Io thread only; `counters` outlive it, and it outlives the server.
class Security {
 public:
  /// `file`: its path, or empty. Of `connections` at most half may wait for a password to be checked.
  Security(boost::asio::io_context& io, const std::string& file, unsigned connections,
           http::HttpCounters& counters);
  ~Security();
  Security(const Security&) = delete;
  Security& operator=(const Security&) = delete;

  /// Reads the file for the first time: before the server listens. The error is a whole message for a person.
  core::Result<void> load();
  /// Looks from now on whether it changed.
  void watch();
  void stop();

  /// Reads the file now, whether it changed or not. `answer` is called once, now or later: with what puts the
  /// file in force, which does nothing without a file, or with what is wrong with it. Until then, and after
  /// an error, the old one is in force.
  void prepare(const std::function<void(const core::Result<std::function<void()>>&)>& answer);

  /// For the server; null without a file.
  std::shared_ptr<http::AccessControl> access() const;

  /// Whether connections speak TLS and requests need a password, as of now.
  bool has_tls() const;
  bool has_passwords() const;

 private:
  std::unique_ptr<task::LoopTasks> password_tasks_;
  std::shared_ptr<Gate> gate_;
  std::shared_ptr<WebConfigFile> file_;
};

}  // namespace rdma_exporter::web
