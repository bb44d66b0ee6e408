// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/cq.h"

#include <fcntl.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "probe/rdma/verbs/wc_status.h"

namespace rdma_exporter::probe {
namespace {

static_assert(kWcSuccess == IBV_WC_SUCCESS && kWcFlushed == IBV_WC_WR_FLUSH_ERR &&
              kWcInvalidRequest == IBV_WC_REM_INV_REQ_ERR && kWcRetryExceeded == IBV_WC_RETRY_EXC_ERR &&
              kWcRnrRetryExceeded == IBV_WC_RNR_RETRY_EXC_ERR && kWcAccessError == IBV_WC_REM_ACCESS_ERR &&
              kWcGeneralError == IBV_WC_GENERAL_ERR && IBV_WC_TM_RNDV_INCOMPLETE == 23);

constexpr unsigned kAcknowledgeEvery = 64;  // takes a lock

// ENOMEM is usually caused by the limit on locked memory, which includes the queue's buffer.
tl::unexpected<core::Error> no_queue() {
  return core::os_error(errno != 0 ? errno : ENOMEM, "completion queue (RLIMIT_MEMLOCK?)");
}

// Fields that were not requested when the queue was created must not be read, nor the timestamp of a failed
// completion.
WorkCompletion current(ibv_cq_ex& cq) {
  WorkCompletion completion;
  completion.id = cq.wr_id;
  completion.status = cq.status;
  if (cq.status == IBV_WC_SUCCESS)
    completion.stamp = ibv_wc_read_completion_ts(&cq);
  else
    completion.vendor_error = ibv_wc_read_vendor_err(&cq);
  return completion;
}

}  // namespace

// One batch per completion: Soft-RoCE's user-space driver (rdma-core 44) ends a batch when ibv_next_poll()
// finds nothing more, and miscounts when the batch is ended once again, which all other drivers need.
core::Result<std::size_t> poll_stamped(ibv_cq_ex& cq, std::span<WorkCompletion> to) {
  for (std::size_t count = 0; count < to.size(); ++count) {
    ibv_poll_cq_attr nothing_special{};
    const int error = ibv_start_poll(&cq, &nothing_special);
    if (error == ENOENT) return count;
    if (error != 0) return core::os_error(error, "start_poll");
    to[count] = current(cq);
    ibv_end_poll(&cq);
  }
  return to.size();
}

core::Result<std::unique_ptr<VerbsCq>> VerbsCq::make(std::shared_ptr<VerbsDevice> device, unsigned depth) {
  std::unique_ptr<VerbsCq> made(new VerbsCq(std::move(device)));
  if (const auto opened = made->open_channel(); !opened) return tl::unexpected(opened.error());
  errno = 0;
  made->cq_ = ibv_create_cq(made->device_->context(), static_cast<int>(depth), nullptr, made->channel_, 0);
  if (made->cq_ == nullptr) return no_queue();
  return made;
}

core::Result<std::unique_ptr<VerbsCq>> VerbsCq::make_stamped(std::shared_ptr<VerbsDevice> device,
                                                             unsigned depth) {
  std::unique_ptr<VerbsCq> made(new VerbsCq(std::move(device)));
  made->clock_ = made->device_->clock();
  if (!made->clock_) return core::os_error(EOPNOTSUPP, made->device_->name() + " has no clock");
  if (const auto opened = made->open_channel(); !opened) return tl::unexpected(opened.error());
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = depth;
  wanted.channel = made->channel_;
  wanted.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  errno = 0;
  made->stamped_ = ibv_create_cq_ex(made->device_->context(), &wanted);
  if (made->stamped_ == nullptr) return no_queue();
  made->cq_ = ibv_cq_ex_to_cq(made->stamped_);
  return made;
}

core::Result<void> VerbsCq::open_channel() {
  errno = 0;
  channel_ = ibv_create_comp_channel(device_->context());
  if (channel_ == nullptr) return core::os_error(errno != 0 ? errno : ENOMEM, "completion channel");
  const int flags = ::fcntl(fd(), F_GETFL);
  if (flags < 0 || ::fcntl(fd(), F_SETFL, flags | O_NONBLOCK) < 0) return core::os_error(errno);
  return {};
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
  if (stamped_ != nullptr) return poll_stamped(*stamped_, to);
  constexpr std::size_t kBatch = 16;
  std::array<ibv_wc, kBatch> batch;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the poll
  const int most = static_cast<int>(std::min(to.size(), kBatch));
  const int count = ibv_poll_cq(cq_, most, batch.data());
  if (count < 0) return core::os_error(EIO, device_->name());
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    to[i] = {batch[i].wr_id, batch[i].status, batch[i].vendor_err, batch[i].byte_len, 0};
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
