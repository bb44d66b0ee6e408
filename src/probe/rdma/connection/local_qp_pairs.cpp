// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/local_qp_pairs.h"

#include <cerrno>
#include <utility>

#include "probe/rdma/cm/cm_connect.h"

namespace rdma_exporter::probe {

SetUp<std::shared_ptr<QpPair>> make_counted_qp_pair(DeviceLoop& loop, const QpPairRequest& request,
                                                    const std::shared_ptr<QpCounts>& counts, unsigned most) {
  const unsigned wanted = (request.one_sided ? 1U : 0U) + (request.echo ? 1U : 0U);
  std::atomic<unsigned>& count = request.responder ? counts->responder : counts->requester;
  // Counted before they are created, because several workers create them concurrently.
  std::shared_ptr<void> counted(nullptr, [counts, &count, wanted](void*) { count -= wanted; });
  if ((count += wanted) > most)
    return tl::unexpected(
        SetUpError{Stage::local, core::Error{core::Errc::os, EDQUOT, "the limit of queue pairs"}});
  auto pair = make_qp_pair(loop, request);
  if (pair) (*pair)->counted = std::move(counted);
  return pair;
}

void LocalQpPairs::make(QpPairRequest request, std::function<void(SetUp<std::shared_ptr<QpPair>>)> done) {
  workers_.post(
      [self = shared_from_this(), request, done = std::move(done)] {
        done(make_counted_qp_pair(*self->loop_, request, self->counts_, self->most_));
      },
      loop_->owner());
}

void LocalQpPairs::connect(std::shared_ptr<QpPair> pair, const Accept& accept, const PathSettings& path,
                           std::function<void(SetUp<void>)> done) {
  const bool managed = pair->transport == Transport::rdma_cm;
  workers_.post(
      [device = loop_->device(), pair = std::move(pair), accept, path, managed, done = std::move(done)] {
        if (!managed) return done(connect_qp_pair(*pair, accept.address, path));
        if (!accept.cm_address)
          return done(tl::unexpected(
              SetUpError{Stage::exchange, {core::Errc::parse, 0, "the peer does not wait for rdma_cm"}}));
        done(cm_connect_pair(*pair, *device, accept.address, *accept.cm_address, path));
      },
      managed ? loop_->managed_owner() : loop_->owner());
}

void LocalQpPairs::dispose(std::shared_ptr<QpPair> pair) {
  workers_.post([pair = std::move(pair)] {}, loop_->owner());
}

}  // namespace rdma_exporter::probe
