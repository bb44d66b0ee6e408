// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/echo_answerer.h"

#include "probe/rdma/verbs/wc_status.h"

namespace rdma_exporter::probe {

EchoAnswerer::EchoAnswerer(DeviceLoop& loop, std::shared_ptr<QpPair> pair,
                           std::atomic<std::uint64_t>& answers)
    : loop_(loop), pair_(std::move(pair)), answers_(answers) {
  loop_.attach(pair_->serial, *this);
}

EchoAnswerer::~EchoAnswerer() { loop_.detach(pair_->serial); }

void EchoAnswerer::completion(std::uint8_t kind, const WorkCompletion& completion,
                              const DeviceLoop::Seen& seen) {
  // After an error the queue pair is dead; the prober sees the error, too, and ends the lease.
  if (kind < kReceiveWork || completion.status != kWcSuccess) return;
  const unsigned slot = kind - kReceiveWork;
  if (completion.bytes == kEchoSize) answer(slot, seen.time);
  pair_->echo->post_receive(slot, completion.id);
}

void EchoAnswerer::answer(unsigned slot, Clock::time_point seen) {
  const auto message = decode_echo(pair_->echo->received(slot));
  if (!message || message->answer) return;
  const EchoMessage reply{message->number, true, Clock::now() - seen};
  if (pair_->echo->post_send(encode_echo(reply), DeviceLoop::work_id(pair_->serial, kSendWork)) != 0) return;
  answers_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace rdma_exporter::probe
