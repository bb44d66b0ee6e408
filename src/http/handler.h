// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>

#include "http/request.h"
#include "http/response.h"

namespace rdma_exporter::http {

/// What a server serves. All calls come on the io thread and must not block it.
class Handler {
 public:
  using Answer = std::function<void(Response)>;

  virtual ~Handler() = default;

  /// Calls `answer` exactly once, now or later. `request` is not used after the return. A HEAD request is
  /// answered like a GET; the caller omits the body.
  virtual void handle(const Request& request, Answer answer) = 0;

  /// Bytes of responses that have to be freed before the response to `request` can be made; 0: none.
  virtual std::size_t missing_room(const Request& request) const = 0;
};

}  // namespace rdma_exporter::http
