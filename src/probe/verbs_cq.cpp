// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/verbs_cq.h"

#include <fcntl.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "probe/wc_status.h"

namespace rdma_exporter::probe {
namespace {

static_assert(kWcSuccess == IBV_WC_SUCCESS && kWcFlushed == IBV_WC_WR_FLUSH_ERR &&
              kWcInvalidRequest == IBV_WC_REM_INV_REQ_ERR && kWcRetryExceeded == IBV_WC_RETRY_EXC_ERR &&
              kWcRnrRetryExceeded == IBV_WC_RNR_RETRY_EXC_ERR && IBV_WC_TM_RNDV_INCOMPLETE == 23);

constexpr unsigned kAcknowledgeEvery = 64;  // takes a lock

}  // namespace

core::Result<std::unique_ptr<VerbsCq>> VerbsCq::make(std::shared_ptr<VerbsDevice> device, unsigned depth) {
  std::unique_ptr<VerbsCq> made(new VerbsCq(std::move(device)));
  ibv_context* context = made->device_->context();
  errno = 0;
  made->channel_ = ibv_create_comp_channel(context);
  if (made->channel_ == nullptr) return core::os_error(errno != 0 ? errno : ENOMEM, "completion channel");
  const int flags = ::fcntl(made->fd(), F_GETFL);
  if (flags < 0 || ::fcntl(made->fd(), F_SETFL, flags | O_NONBLOCK) < 0) return core::os_error(errno);
  made->cq_ = ibv_create_cq(context, static_cast<int>(depth), nullptr, made->channel_, 0);
  // ENOMEM is mostly the limit on locked memory, which the buffer of the queue counts against.
  if (made->cq_ == nullptr)
    return core::os_error(errno != 0 ? errno : ENOMEM, "completion queue (RLIMIT_MEMLOCK?)");
  return made;
}

VerbsCq::~VerbsCq() {
  if (cq_ != nullptr) {
    take_events();
    ibv_ack_cq_events(cq_, unacknowledged_);  // ibv_destroy_cq() waits for it
    ibv_destroy_cq(cq_);
  }
  if (channel_ != nullptr) ibv_destroy_comp_channel(channel_);
}

core::Result<std::size_t> VerbsCq::poll(std::span<WorkCompletion> to) {
  constexpr std::size_t kBatch = 16;
  std::array<ibv_wc, kBatch> batch;
  const int most = static_cast<int>(std::min(to.size(), kBatch));
  const int count = ibv_poll_cq(cq_, most, batch.data());
  if (count < 0) return core::os_error(EIO, device_->name());
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    to[i] = {batch[i].wr_id, batch[i].status, batch[i].vendor_err, batch[i].byte_len};
  return static_cast<std::size_t>(count);
}

core::Result<void> VerbsCq::arm() {
  if (const int error = ibv_req_notify_cq(cq_, 0); error != 0) return core::os_error(error, device_->name());
  return {};
}

int VerbsCq::fd() const { return channel_->fd; }

void VerbsCq::take_events() {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_, &cq, &context) == 0) ++unacknowledged_;
  if (unacknowledged_ < kAcknowledgeEvery) return;
  ibv_ack_cq_events(cq_, unacknowledged_);
  unacknowledged_ = 0;
}

}  // namespace rdma_exporter::probe
