// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <memory>

#include "probe/agent/workers.h"
#include "probe/channel/dialer.h"

namespace rdma_exporter::probe {

/// Number of queue pairs on a device, by role.
struct QpCounts {
  std::atomic<unsigned> requester{0};
  std::atomic<unsigned> responder{0};
};

/// make_qp_pair() with a limit: EDQUOT if the role would have more than `most` queue pairs.
SetUp<std::shared_ptr<QpPair>> make_counted_qp_pair(DeviceLoop& loop, const QpPairRequest& request,
                                                    const std::shared_ptr<QpCounts>& counts, unsigned most);

/// This host's ends of the connections that a device dials, created and destroyed on workers. Thread-safe.
class LocalQpPairs final : public QpPairs, public std::enable_shared_from_this<LocalQpPairs> {
 public:
  /// `most`: maximum number of queue pairs.
  LocalQpPairs(std::shared_ptr<DeviceLoop> loop, Workers& workers, std::shared_ptr<QpCounts> counts,
               unsigned most)
      : loop_(std::move(loop)), workers_(workers), counts_(std::move(counts)), most_(most) {}

  void make(QpPairRequest request, std::function<void(SetUp<std::shared_ptr<QpPair>>)> done) override;
  void connect(std::shared_ptr<QpPair> pair, const Accept& accept, const PathSettings& path,
               std::function<void(SetUp<void>)> done) override;
  void dispose(std::shared_ptr<QpPair> pair) override;

 private:
  std::shared_ptr<DeviceLoop> loop_;
  Workers& workers_;
  std::shared_ptr<QpCounts> counts_;
  unsigned most_;
};

}  // namespace rdma_exporter::probe
