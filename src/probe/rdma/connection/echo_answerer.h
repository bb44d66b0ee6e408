// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "probe/rdma/connection/qp_pair.h"
#include "probe/rdma/device_loop.h"

namespace rdma_exporter::probe {

/// The responder's part of a connection: returns every echo. (One-sided operations need no process.) Lives on
/// its device's loop.
class EchoAnswerer final : public DeviceLoop::Handler {
 public:
  /// `answers` counts the returned echoes. Call on the loop's thread.
  EchoAnswerer(DeviceLoop& loop, std::shared_ptr<QpPair> pair, std::atomic<std::uint64_t>& answers);
  ~EchoAnswerer() override;

  void completion(std::uint8_t kind, const WorkCompletion& completion, const DeviceLoop::Seen& seen) override;

 private:
  void answer(unsigned slot, Clock::time_point seen);

  DeviceLoop& loop_;
  std::shared_ptr<QpPair> pair_;
  std::atomic<std::uint64_t>& answers_;
};

}  // namespace rdma_exporter::probe
