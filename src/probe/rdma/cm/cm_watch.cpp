// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/cm/cm_watch.h"

#include <fcntl.h>

#include <utility>

namespace rdma_exporter::probe {

using ErrorCode = boost::system::error_code;

CmWatch::CmWatch(asio::io_context& io, Workers& workers, std::shared_ptr<CmListener> listener)
    : io_(io), workers_(workers), listener_(std::move(listener)), readable_(io), timer_(io) {}

void CmWatch::start() {
  asio::post(io_, [self = shared_from_this()] {
    if (!self->listener_) return;
    // A duplicate, because the destructor of the listener closes the original.
    const int fd = ::fcntl(self->listener_->fd(), F_DUPFD_CLOEXEC, 0);
    ErrorCode error;
    if (fd >= 0) self->readable_.assign(fd, error);
    self->timer_.expires_after(kMaxListenTime);
    self->timer_.async_wait([self](const ErrorCode& cancelled) {
      if (cancelled) return;
      self->late_ = true;
      if (!self->busy_) self->work(&CmListener::close);
    });
    self->wait();
  });
}

void CmWatch::wait() {
  if (!readable_.is_open()) return;
  readable_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const ErrorCode& error) {
    if (!error && !self->busy_) self->work(&CmListener::answer);
  });
}

void CmWatch::work(void (CmListener::*task)()) {
  if (!listener_) return;
  busy_ = true;
  workers_.post([self = shared_from_this(), listener = listener_, task] {
    (*listener.*task)();
    asio::post(self->io_, [self, done = listener->done()] {
      self->busy_ = false;
      if (done) return self->end();
      self->late_ ? self->work(&CmListener::close) : self->wait();
    });
  });
}

void CmWatch::end() {
  ErrorCode ignored;
  timer_.cancel();
  readable_.close(ignored);
}

void CmWatch::stop(std::function<void()> then) {
  asio::post(io_, [self = shared_from_this(), then = std::move(then)] {
    self->end();
    self->listener_.reset();
    then();
  });
}

}  // namespace rdma_exporter::probe
