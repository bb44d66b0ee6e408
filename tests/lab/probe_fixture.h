// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "probe/rdma/cm/cm_connect.h"
#include "probe/rdma/connection/echo_answerer.h"
#include "probe/rdma/connection/rc_endpoint.h"
#include "probe/rdma/verbs/wc_status.h"

namespace rdma_exporter::probe {

using namespace std::chrono_literals;

inline void shell(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

/// Changes something of the guest's network for as long as it lives.
class Change {
 public:
  Change(const std::string& make, std::string undo) : undo_(std::move(undo)) { shell(make); }
  ~Change() { shell(undo_); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  std::string undo_;
};

/// netem on what `netdev` sends.
class Netem : public Change {
 public:
  Netem(const std::string& netdev, const std::string& what, const std::string& also_undo = "true")
      : Change("tc qdisc add dev " + netdev + " root netem " + what,
               "tc qdisc del dev " + netdev + " root && " + also_undo) {}
};

/// Results, from any thread.
class Results : public Recorder {
 public:
  void attempt(Op /*op*/) override {
    const std::lock_guard lock(mutex_);
    ++attempts_;
  }
  void success(Op op, const Completion& completion) override {
    const std::lock_guard lock(mutex_);
    samples_[op].push_back(completion);
  }
  void failure(Op op, const Failure& failure) override {
    const std::lock_guard lock(mutex_);
    failures_.push_back(std::string(to_string(op)) + " " + std::string(to_string(failure.stage)) + " " +
                        std::string(failure.reason));
  }
  void overrun(Op /*op*/) override {}
  void warmed_up(Op /*op*/, const Completion& /*completion*/) override {}
  void unsent(Op op, const Failure& why) override { failure(op, why); }
  void interrupted(const Failure& /*why*/) override {}

  std::vector<std::chrono::nanoseconds> rtts(Op op) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::chrono::nanoseconds> rtts;
    if (const auto found = samples_.find(op); found != samples_.end())
      for (const Completion& sample : found->second) rtts.push_back(sample.rtt);
    std::sort(rtts.begin(), rtts.end());
    return rtts;
  }
  std::vector<Completion> samples(Op op) const {
    const std::lock_guard lock(mutex_);
    const auto found = samples_.find(op);
    return found == samples_.end() ? std::vector<Completion>() : found->second;
  }
  std::vector<std::string> failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }
  std::size_t attempts() const {
    const std::lock_guard lock(mutex_);
    return attempts_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    samples_.clear();
    failures_.clear();
    attempts_ = 0;
  }

 private:
  mutable std::mutex mutex_;
  std::size_t attempts_ = 0;
  std::map<Op, std::vector<Completion>> samples_;
  std::vector<std::string> failures_;
};

/// An open device with its loop, not started yet.
inline std::unique_ptr<DeviceLoop> open_loop(const std::string& name) {
  auto device = VerbsDevice::open(name);
  if (!device) throw std::runtime_error(core::to_string(device.error()));
  auto loop = DeviceLoop::make(*device, 256);
  if (!loop) throw std::runtime_error(core::to_string(loop.error()));
  return std::move(*loop);
}

/// Runs `task` on the loop and waits for it.
inline void on(DeviceLoop& loop, const std::function<void()>& task) {
  std::promise<void> done;
  loop.post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

/// Has a listener answer whoever asks, on a thread of its own.
class Answering {
 public:
  explicit Answering(CmListener& listener)
      : thread_([this, &listener] {
          while (!over_ && !listener.done()) {
            listener.answer();
            std::this_thread::sleep_for(1ms);
          }
        }) {}
  ~Answering() {
    over_ = true;
    thread_.join();
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Both ends in this process, without a side channel: rxe0 connects to rxe1.
class DirectConnector : public Connector {
 public:
  DirectConnector(Workers& workers, DeviceLoop& here, DeviceLoop& there)
      : workers_(workers), here_(here), there_(there) {}

  void connect(std::optional<Op> one_sided, Done done, Lease lease) override {
    lost_ = std::move(lease.lost);
    workers_.post([this, one_sided, done = std::move(done)] { done(establish(one_sided)); });
  }

  std::uint8_t grants = kGrantWrite | kGrantRead;
  PathSettings path;
  TransportChoice transport = TransportChoice::verbs;
  bool receives = true;  ///< of the responder
  std::atomic<std::uint64_t> answers{0};
  std::atomic<unsigned> connects{0};
  std::function<void(Failure)> lost_;

 private:
  // The peer's end, gone with the lease.
  struct Far {
    Far(DeviceLoop& on_loop, std::shared_ptr<QpPair> far_pair) : loop(on_loop), pair(std::move(far_pair)) {}
    DeviceLoop& loop;
    std::shared_ptr<QpPair> pair;
    std::unique_ptr<EchoAnswerer> answerer;
    ~Far() {
      on(loop, [this] { answerer.reset(); });
    }
  };

  tl::expected<Connection, ConnectError> establish(std::optional<Op> one_sided) {
    ++connects;
    QpPairRequest request;
    request.one_sided = one_sided.has_value();
    request.stamps = one_sided == Op::read;
    request.transport = transport;
    request.gid.exact = *gid_of_address("10.9.0.1");
    auto near = make_qp_pair(here_, request);
    if (!near) return tl::unexpected(ConnectError{near.error().failure()});
    request.responder = true;
    request.stamps = false;
    request.remote = grants;
    request.gid = {};
    request.gid.peer = (*near)->local.gid;
    auto far = make_qp_pair(there_, request);
    if (!far) return tl::unexpected(ConnectError{far.error().failure()});
    if (!receives) {
      auto bare = VerbsQp::make(there_.device(), there_.cq(), VerbsQp::Kind::echo, request.port, 0);
      if (!bare) return tl::unexpected(ConnectError{{Stage::local, core::reason(bare.error())}});
      (*far)->echo = std::move(*bare);
      (*far)->local.echo = (*far)->echo->numbers();
    }
    auto lease = std::make_shared<Far>(there_, *far);
    on(there_, [&] { lease->answerer = std::make_unique<EchoAnswerer>(there_, *far, answers); });
    const auto up = transport == TransportChoice::rdma_cm ? connect_managed(*near, *far)
                                                          : connect_by_verbs(**near, **far);
    if (!up) return tl::unexpected(ConnectError{up.error().failure()});
    Connection connection;
    connection.pair = *near;
    connection.lease = lease;
    return connection;
  }

  SetUp<void> connect_by_verbs(QpPair& near, QpPair& far) const {
    const auto up = connect_qp_pair(far, near.local, path);
    return up ? connect_qp_pair(near, far.local, path) : up;
  }

  SetUp<void> connect_managed(const std::shared_ptr<QpPair>& near, const std::shared_ptr<QpPair>& far) const {
    const auto listener = CmListener::open(far, *there_.device(), path);
    if (!listener) return tl::unexpected(listener.error());
    const Answering answering(**listener);
    return cm_connect_pair(*near, *here_.device(), far->local, (*listener)->cm_address(), path, 30s);
  }

  Workers& workers_;
  DeviceLoop& here_;
  DeviceLoop& there_;
};

}  // namespace rdma_exporter::probe
