// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>

#include "http/request.h"
#include "http/response.h"

namespace rdma_exporter::http {

/// What a server serves. Every call comes on the io thread and must not block it.
class Handler {
 public:
  using Answer = std::function<void(Response)>;

  virtual ~Handler() = default;

  /// Calls `answer` exactly once, at once or later. `request` is not used after the return. A HEAD is
  /// answered as its GET; the caller leaves the body out.
  virtual void handle(const Request& request, Answer answer) = 0;

  /// Bytes of responses that have to be gone before the one that `request` asks for can be made; 0: it can
  /// be.
  virtual std::size_t missing_room(const Request& request) const = 0;
};

}  // namespace rdma_exporter::http
