// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <memory>

#include "asio/socket.h"
//
#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "probe/agent/workers.h"
#include "probe/rdma/cm/cm_connect.h"

namespace rdma_exporter::probe {

/// Waits for a listener's requests on the thread of `io`, so that a silent peer occupies no worker, and has a
/// worker answer them. Waits at most for kMaxListenTime.
class CmWatch : public std::enable_shared_from_this<CmWatch> {
 public:
  /// How long the responder waits for a prober that is connecting.
  static constexpr std::chrono::seconds kMaxListenTime{10};

  CmWatch(asio::io_context& io, Workers& workers, std::shared_ptr<CmListener> listener);
  void start();
  /// Ends the wait; `then` is called on the thread of `io`.
  void stop(std::function<void()> then);

 private:
  using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
  void wait();
  void work(void (CmListener::*task)());
  void end();

  asio::io_context& io_;
  Workers& workers_;
  std::shared_ptr<CmListener> listener_;
  Descriptor readable_;
  Timer timer_;
  bool busy_ = false;  // a worker uses the listener
  bool late_ = false;
};

}  // namespace rdma_exporter::probe
