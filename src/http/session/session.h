// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "http/request_reader.h"
#include "http/session/connection.h"
#include "http/session/deadline.h"
#include "http/session/refusals.h"
#include "http/stream.h"
#include "log/caught.h"
#include "log/log.h"

namespace rdma_exporter::http {

/// How long after a request its page is asked for again if it found no room.
inline constexpr std::chrono::seconds kRepeatFor{1};

/// Serves one connection: reads requests and writes responses, in order, one at a time. Pipelined requests
/// wait in the buffer.
///
/// Stream: anything with async_read_some, async_write_some and get_executor (the executor of an io_context),
/// plus the functions of http/stream.h: a socket, TLS or a fake. Threads: the io thread only. Lifetime: the
/// event loop holds the session through its timer until close(), so that a later answer finds no session and
/// is dropped. Cost of a request on an open connection: one read and one gathered write, no timer call, no
/// copy of the body.
template <typename Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(Stream stream, std::shared_ptr<SessionContext> context);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Serves requests until the client or a limit ends the connection.
  void start();
  /// Answers 503 without waiting for a request, and closes.
  void refuse();
  void stop() override;
  void close() override;
  std::size_t sending() const override;
  void give_up_page() override;

 private:
  using ErrorCode = boost::system::error_code;
  enum class State : unsigned char { opening, reading, handling, writing, draining, closed };
  static constexpr std::size_t kMaxDrainedBytes = 65536;

  void watch(Connections* registry);
  /// Runs `step`; an exception ends only this connection.
  template <typename Step>
  void guarded(Step step);
  void on_open(const ErrorCode& error);
  void read();
  void on_read(const ErrorCode& error, std::size_t bytes);
  void advance();
  void handle();
  void on_admission(Admission admission);
  void serve();
  void ask();
  bool has_room_for_page();
  void answer(Response response);
  void refuse_request(unsigned status, RefusedRequest reason);
  void send(Response response, bool last);
  Persistence persistence() const;
  void on_written(const ErrorCode& error);
  void finish();
  void on_shutdown(bool drains);
  void drain();
  void on_drained(const ErrorCode& error, std::size_t bytes);
  void on_expired();

  Stream stream_;
  std::shared_ptr<SessionContext> context_;
  Connections* registry_ = nullptr;  ///< the registry from which close() removes this session
  Deadline deadline_;
  RequestReader reader_;
  State state_ = State::opening;
  bool reading_ = false;        ///< a read is in progress, even after a timeout has ended the state `reading`
  bool request_timed_ = false;  ///< the read timeout of this request is running
  bool last_ = false;           ///< the response being written is the last one
  bool linger_ = false;  ///< the client may still be sending: read that before closing, or it sees a reset
  bool head_only_ = false;
  bool admitted_ = false;  ///< at least one request was let in
  unsigned requests_ = 0;
  std::chrono::steady_clock::time_point asked_;  ///< when this request was first passed on
  std::size_t drained_ = 0;
  std::string peer_;
  std::string head_;
  std::shared_ptr<const std::string> body_;
};

}  // namespace rdma_exporter::http

#include "http/session/session_impl.h"
