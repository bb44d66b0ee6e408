// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/local_ends.h"

#include <cerrno>
#include <utility>

#include "probe/rdma/cm/cm_connect.h"

namespace rdma_exporter::probe {

SetUp<std::shared_ptr<RcEnd>> make_counted_end(DeviceLoop& loop, const EndRequest& request,
                                               const std::shared_ptr<QpCounts>& counts, unsigned most) {
  const unsigned wanted = (request.one_sided ? 1U : 0U) + (request.echo ? 1U : 0U);
  std::atomic<unsigned>& count = request.responder ? counts->responder : counts->requester;
  // Counted before they are created, because several workers create them concurrently.
  std::shared_ptr<void> counted(nullptr, [counts, &count, wanted](void*) { count -= wanted; });
  if ((count += wanted) > most)
    return tl::unexpected(
        SetUpError{Stage::local, core::Error{core::Errc::os, EDQUOT, "the limit of queue pairs"}});
  auto end = make_end(loop, request);
  if (end) (*end)->counted = std::move(counted);
  return end;
}

void LocalEnds::make(EndRequest request, std::function<void(SetUp<std::shared_ptr<RcEnd>>)> done) {
  workers_.post(
      [self = shared_from_this(), request, done = std::move(done)] {
        done(make_counted_end(*self->loop_, request, self->counts_, self->most_));
      },
      loop_->line());
}

void LocalEnds::connect(std::shared_ptr<RcEnd> end, const Accept& accept, const PathSettings& path,
                        std::function<void(SetUp<void>)> done) {
  const bool managed = end->transport == Transport::rdma_cm;
  workers_.post(
      [device = loop_->device(), end = std::move(end), accept, path, managed, done = std::move(done)] {
        if (!managed) return done(connect_end(*end, accept.end, path));
        if (!accept.cm_address)
          return done(tl::unexpected(
              SetUpError{Stage::exchange, {core::Errc::parse, 0, "the peer does not wait for rdma_cm"}}));
        done(cm_connect_end(*end, *device, accept.end, *accept.cm_address, path));
      },
      managed ? loop_->managed_line() : loop_->line());
}

void LocalEnds::dispose(std::shared_ptr<RcEnd> end) {
  workers_.post([end = std::move(end)] {}, loop_->line());
}

}  // namespace rdma_exporter::probe
