// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The thread with scripted devices and with scripted streams of recorded datagrams in place of netlink
// sockets.
#include "host/events/event_reader.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host {
namespace {

using namespace std::chrono_literals;
using Type = AsyncEventType;

// What a test does with a device, shared with the thread.
class Script {
 public:
  ~Script() { ::close(fd_); }
  void happen(AsyncEvent event) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(event);
    (void)::eventfd_write(fd_, 1);
  }
  void end() {
    ended_ = true;
    (void)::eventfd_write(fd_, 1);
  }
  core::Result<std::optional<AsyncEvent>> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      eventfd_t ignored = 0;
      (void)::eventfd_read(fd_, &ignored);
      if (ended_) return core::os_error(EIO);
      return std::nullopt;
    }
    const AsyncEvent event = waiting_.front();
    waiting_.pop_front();
    return event;
  }
  int fd() const { return fd_; }
  std::atomic<bool> closed{false};
  std::atomic<bool> hold_close{false};

 private:
  const int fd_ = ::eventfd(0, EFD_NONBLOCK);
  std::mutex mutex_;
  std::deque<AsyncEvent> waiting_;
  std::atomic<bool> ended_{false};
};

class ScriptedEvents : public AsyncEvents {
 public:
  ScriptedEvents(std::shared_ptr<Script> script, std::string node)
      : script_(std::move(script)), node_(std::move(node)) {}
  ~ScriptedEvents() override {
    while (script_->hold_close) std::this_thread::sleep_for(1ms);
    script_->closed = true;
  }
  int fd() const override { return script_->fd(); }
  core::Result<std::optional<AsyncEvent>> next() override { return script_->next(); }
  const std::string& node() const override { return node_; }

 private:
  std::shared_ptr<Script> script_;
  std::string node_;
};

// What the kernel sends to one group: datagrams, or errors.
class FakeKernel {
 public:
  ~FakeKernel() { ::close(fd_); }
  void send(core::Result<test::Message> datagram) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(datagram));
    (void)::eventfd_write(fd_, 1);
  }
  core::Result<Bytes> receive(std::span<std::byte> buffer) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      eventfd_t ignored = 0;
      (void)::eventfd_read(fd_, &ignored);
      return Bytes();
    }
    const auto datagram = std::move(waiting_.front());
    waiting_.pop_front();
    if (!datagram) return tl::unexpected(datagram.error());
    std::copy(datagram->begin(), datagram->end(), buffer.begin());
    return Bytes(buffer.data(), datagram->size());
  }
  int fd() const { return fd_; }

 private:
  const int fd_ = ::eventfd(0, EFD_NONBLOCK);
  std::mutex mutex_;
  std::deque<core::Result<test::Message>> waiting_;
};

class ScriptedStream : public EventStream {
 public:
  explicit ScriptedStream(std::shared_ptr<FakeKernel> kernel) : kernel_(std::move(kernel)) {}
  int fd() const override { return kernel_->fd(); }
  core::Result<Bytes> receive(std::span<std::byte> buffer) override { return kernel_->receive(buffer); }

 private:
  std::shared_ptr<FakeKernel> kernel_;
};

template <typename Condition>
bool within_seconds(Condition condition) {
  const auto end = EventReader::Clock::now() + 10s;
  while (!condition())
    if (EventReader::Clock::now() > end) return false;
  return true;
}

class EventReaderTest : public ::testing::Test {
 protected:
  EventReaderTest() { reader_->start(); }

  std::unique_ptr<EventReader::Listening> listen(bool pins = true) {
    return listen(script_, "uverbs2", pins);
  }
  std::unique_ptr<EventReader::Listening> listen(std::shared_ptr<Script> script, std::string node,
                                                 bool pins) {
    const std::vector<std::uint32_t> ports{1};
    reader_->counts().listen("d", ports, false);
    return reader_->listen("d", std::make_unique<ScriptedEvents>(std::move(script), std::move(node)), pins);
  }
  bool source_is_up(EventSource source) { return reader_->counts().source(source).up.value_or(false); }
  void hear(const std::string& datagram) { uevents_->send(test::recorded_file("events/" + datagram)); }
  std::uint64_t count(const std::string& event) {
    std::uint64_t found = 0;
    reader_->counts().for_each_of("d", [&](const std::string& labels, std::uint64_t n) {
      if (labels.find(event) != std::string::npos) found = n;
    });
    return found;
  }
  bool stop() { return reader_->stop(EventReader::Clock::now() + 10s); }

  std::shared_ptr<Changes> changes_ = std::make_shared<Changes>();
  std::shared_ptr<FakeKernel> uevents_ = std::make_shared<FakeKernel>();
  std::unique_ptr<EventReader> reader_ = std::make_unique<EventReader>(
      changes_, [](NetlinkProtocol) { return nullptr; },
      [kernel = uevents_](int protocol, unsigned) -> core::Result<std::unique_ptr<EventStream>> {
        if (protocol != NETLINK_KOBJECT_UEVENT) return core::os_error(EPROTONOSUPPORT);
        return std::make_unique<ScriptedStream>(kernel);
      });
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
};

TEST_F(EventReaderTest, CountsEventsAndNotesTheDevice) {
  const auto listening = listen();
  const auto before = changes_->of("d") - changes_->all();
  script_->happen({Type::port_err, 1});
  script_->happen({Type::port_active, 1});
  EXPECT_TRUE(within_seconds([&] { return count("PORT_ACTIVE") == 1; }));
  EXPECT_EQ(count("PORT_ERR"), 1U);
  EXPECT_TRUE(within_seconds([&] { return changes_->of("d") - changes_->all() >= before + 2; }));
  EXPECT_TRUE(listening->active());
  EXPECT_FALSE(script_->closed);
}

TEST_F(EventReaderTest, ClosesTheDeviceBehindItsLastEvent) {
  const auto listening = listen();
  script_->happen({Type::device_fatal, 0});
  EXPECT_TRUE(within_seconds([&] { return script_->closed.load(); }));
  EXPECT_FALSE(listening->active());
  EXPECT_EQ(count("DEVICE_FATAL"), 1U);
}

TEST_F(EventReaderTest, ClosesADeviceThatCannotBeReadAnyMore) {
  const auto listening = listen();
  script_->end();
  EXPECT_TRUE(within_seconds([&] { return script_->closed.load(); }));
  EXPECT_FALSE(listening->active());
}

TEST_F(EventReaderTest, ClosesADeviceThatNobodyWantsAnyMore) {
  auto listening = listen();
  script_->happen({Type::port_err, 1});
  ASSERT_TRUE(within_seconds([&] { return count("PORT_ERR") == 1; }));
  EXPECT_FALSE(script_->closed);
  listening.reset();
  EXPECT_TRUE(within_seconds([&] { return script_->closed.load(); }));
}

TEST_F(EventReaderTest, ClosesEverythingWhenItEnds) {
  const auto listening = listen();
  script_->happen({Type::port_err, 1});
  ASSERT_TRUE(within_seconds([&] { return count("PORT_ERR") == 1; }));
  EXPECT_TRUE(stop());
  EXPECT_TRUE(script_->closed);
  EXPECT_FALSE(listening->active());
  EXPECT_TRUE(stop()) << "again";
}

// A driver that hangs in close() must not keep the process from ending.
TEST_F(EventReaderTest, SaysWhenItIsStuckAndDoesNotWait) {
  script_->hold_close = true;
  auto listening = listen();
  script_->happen({Type::device_fatal, 0});
  ASSERT_TRUE(within_seconds([&] { return !listening->active(); }));
  EXPECT_FALSE(reader_->stop(EventReader::Clock::now() + 20ms));
  listening.reset();
  reader_.reset();  // neither waits
  EXPECT_FALSE(script_->closed);
  script_->hold_close = false;
  EXPECT_TRUE(within_seconds([&] { return script_->closed.load(); }));
}

TEST_F(EventReaderTest, ClosesADeviceThatWouldHoldItsOwnRemoval) {
  const auto listening = listen();
  const auto other = std::make_shared<Script>();
  const auto other_listening = listen(other, "uverbs7", true);
  hear("uevent_verbs_remove.bin");  // of uverbs2
  EXPECT_TRUE(within_seconds([&] { return script_->closed.load(); }));
  EXPECT_FALSE(listening->active());
  EXPECT_TRUE(other_listening->active());
  EXPECT_FALSE(other->closed);
}

TEST_F(EventReaderTest, KeepsADeviceThatCanGoWhileItIsOpen) {
  const auto listening = listen(false);
  hear("uevent_verbs_remove.bin");
  script_->happen({Type::port_err, 1});
  EXPECT_TRUE(within_seconds([&] { return count("PORT_ERR") == 1; }));
  EXPECT_TRUE(listening->active());
}

// One of the lost messages may have announced the removal.
TEST_F(EventReaderTest, ClosesDevicesThatPinAfterALoss) {
  const auto listening = listen();
  const auto other = std::make_shared<Script>();
  const auto free = listen(other, "uverbs7", false);
  const auto before = changes_->all();
  uevents_->send(core::os_error(ENOBUFS));
  EXPECT_TRUE(within_seconds([&] { return script_->closed.load(); }));
  EXPECT_FALSE(listening->active());
  EXPECT_TRUE(free->active());
  EXPECT_EQ(reader_->counts().source(EventSource::uevent).lost, 1U);
  EXPECT_GT(changes_->all(), before) << "everything is read again";
  EXPECT_TRUE(source_is_up(EventSource::uevent)) << "and the source goes on";
}

TEST_F(EventReaderTest, ASourceThatBreaksIsDown) {
  ASSERT_TRUE(within_seconds([&] { return source_is_up(EventSource::uevent); }));
  uevents_->send(core::os_error(EBADF));
  EXPECT_TRUE(within_seconds([&] { return !source_is_up(EventSource::uevent); }));
  EXPECT_FALSE(source_is_up(EventSource::link)) << "was refused from the start";
}

// Sources that are all there: uevents and links. Without RDMA devices nobody asks for MONITOR.
class AllToldTest : public EventReaderTest {
 protected:
  AllToldTest() {
    EXPECT_TRUE(stop());
    changes_ = std::make_shared<Changes>();
    reader_ = std::make_unique<EventReader>(
        changes_, [](NetlinkProtocol) { return nullptr; },
        [this](int protocol, unsigned) -> core::Result<std::unique_ptr<EventStream>> {
          return std::make_unique<ScriptedStream>(protocol == NETLINK_KOBJECT_UEVENT ? uevents_ : links_);
        });
    reader_->start();
  }
  ~AllToldTest() override { EXPECT_TRUE(stop()); }
  bool becomes(bool complete) {
    return within_seconds([&] { return changes_->complete() == complete; });
  }

  std::shared_ptr<FakeKernel> links_ = std::make_shared<FakeKernel>();
};

TEST_F(EventReaderTest, NotEverythingIsToldWhereASourceIsRefused) {
  ASSERT_TRUE(within_seconds([&] { return source_is_up(EventSource::uevent); }));
  const auto listening = listen();
  script_->happen({Type::port_err, 1});
  ASSERT_TRUE(within_seconds([&] { return count("PORT_ERR") == 1; }));
  EXPECT_FALSE(changes_->complete()) << "links are refused";
}

TEST_F(AllToldTest, SaysSoAndWhatWasMissedBefore) {
  ASSERT_TRUE(becomes(true));
  EXPECT_GE(changes_->all(), 2U) << "once for each source";
}

TEST_F(AllToldTest, ALossIsNotedAndASourceThatBreaksEndsIt) {
  ASSERT_TRUE(becomes(true));
  const auto before = changes_->all();
  links_->send(core::os_error(ENOBUFS));
  ASSERT_TRUE(within_seconds([&] { return changes_->all() > before; }));
  EXPECT_TRUE(changes_->complete()) << "the source goes on";
  links_->send(core::os_error(EBADF));
  EXPECT_TRUE(becomes(false));
}

TEST_F(AllToldTest, NothingIsHeardWhileADeviceDoesNotClose) {
  ASSERT_TRUE(becomes(true));
  script_->hold_close = true;
  const auto listening = listen();
  script_->happen({Type::device_fatal, 0});
  EXPECT_TRUE(becomes(false));
  script_->hold_close = false;
  EXPECT_TRUE(becomes(true));
}

TEST_F(AllToldTest, NothingIsHeardBehindTheEnd) {
  ASSERT_TRUE(becomes(true));
  ASSERT_TRUE(stop());
  EXPECT_FALSE(changes_->complete());
}

}  // namespace
}  // namespace rdma_exporter::host
