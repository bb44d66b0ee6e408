// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "asio/asio.h"
#include "config/config.h"
#include "core/result.h"
#include "web/metrics_source.h"

namespace rdma_exporter::app {

/// Replaces the file `path` by one with `content` and mode 0644. Whoever reads it sees the old one or the new
/// one, whole, also after a loss of power. Blocks on the disk.
core::Result<void> replace_file(const std::string& path, std::string_view content);

/// Writes the metrics to a file at each interval, for hosts that must not listen. On the thread of `io`,
/// where nothing else has to be done meanwhile.
class Textfile {
 public:
  /// `source` outlives the text file.
  Textfile(asio::io_context& io, web::MetricsSource& source, const config::Config& config);

  /// From the next collection on. The path stays.
  void configure(const config::Config& config);

  /// Begins with the first collection. When that cannot be written the loop is stopped; later failures are
  /// logged, and the file is tried again.
  void start();

  /// Removes the file, so that nobody serves old values as new ones. False when it could not be written at
  /// the start.
  bool end();

 private:
  void collect();
  void note(const core::Result<void>& done);
  void wait();

  asio::io_context& io_;
  web::MetricsSource& source_;
  const std::string path_;
  std::chrono::milliseconds interval_{};
  std::chrono::milliseconds timeout_{};  ///< of a collection
  asio::steady_timer timer_;
  std::chrono::steady_clock::time_point next_;
  bool written_ = false;  ///< at least once
  bool refused_ = false;
  bool failing_ = false;  ///< said so in the log
};

}  // namespace rdma_exporter::app
