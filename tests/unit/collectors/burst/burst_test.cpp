// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The whole collector with its threads. device_sampler_test.cpp tests what depends on time, without threads.
#include <condition_variable>
#include <mutex>

#include "collectors/burst/sampler/sampling_thread.h"
#include "host/topology/driver.h"
#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/fake_ethtool.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec burst_spec;

namespace {

using namespace std::chrono_literals;

/// A file system where reads of one file hang until they are released.
class HangingFs : public host::HostFs {
 public:
  explicit HangingFs(std::unique_ptr<host::HostFs> fs) : fs_(std::move(fs)) {}

  core::Result<std::vector<std::string>> list(const std::string& path) override { return fs_->list(path); }
  core::Result<std::string> read_link(const std::string& path) override { return fs_->read_link(path); }
  core::Result<std::string> canonical(const std::string& path) override { return fs_->canonical(path); }
  core::Result<host::FileId> stat(const std::string& path) override { return fs_->stat(path); }
  core::Result<std::unique_ptr<host::OpenDir>> open_dir(const std::string& path) override {
    return fs_->open_dir(path);
  }
  core::Result<std::unique_ptr<host::OpenFile>> open(const std::string& path) override {
    auto file = fs_->open(path);
    if (!file) return file;
    return std::make_unique<File>(*this, path, std::move(*file));
  }
  const std::string& root() const override { return fs_->root(); }

  void hang(const std::string& path) {
    const std::lock_guard lock(mutex_);
    path_ = path;
  }
  void wait_until_it_hangs() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return hanging_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    path_.clear();
    changed_.notify_all();
  }
  /// How often the file was read.
  int reads(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return reads_[path];
  }
  void wait_for_reads(const std::string& path, int reads) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reads_[path] >= reads; });
  }

 private:
  class File : public host::OpenFile {
   public:
    File(HangingFs& fs, std::string path, std::unique_ptr<host::OpenFile> file)
        : fs_(fs), path_(std::move(path)), file_(std::move(file)) {}
    core::Result<std::string_view> read(std::span<char> buffer) override {
      fs_.enter(path_);
      return file_->read(buffer);
    }

   private:
    HangingFs& fs_;
    std::string path_;
    std::unique_ptr<host::OpenFile> file_;
  };

  void enter(const std::string& path) {
    std::unique_lock lock(mutex_);
    ++reads_[path];
    hanging_ = hanging_ || path == path_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return path != path_; });
  }

  std::unique_ptr<host::HostFs> fs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string path_;
  bool hanging_ = false;
  std::map<std::string, int> reads_;
};

class BurstCollectorTest : public CollectorFixture {
 protected:
  BurstCollectorTest() : CollectorFixture(burst_spec) {
    auto fs = std::make_unique<HangingFs>(host::make_host_fs(tree_.root()));
    hanging_fs_ = fs.get();
    host_.sysfs = std::move(fs);
    context_.burst.window = 10ms;
    for (const char* device : {"d0", "d1"}) {
      add_port(device);
      for (const char* counter : {"port_rcv_data", "port_xmit_data"})
        tree_.write(port_path(device) + "counters/" + counter, "0\n");
    }
  }
  ~BurstCollectorTest() override {
    hanging_fs_->release();
    EXPECT_TRUE(stop());
  }

  static std::string xmit_data(const std::string& device) {
    return port_path(device) + "counters/port_xmit_data";
  }
  static std::string up(const std::string& device) {
    return R"(rdma_burst_up{device=")" + device + R"(",port="1",netdev="",source="counters"})";
  }
  static std::string windows(const std::string& device, const std::string& result) {
    return R"(rdma_burst_windows_total{device=")" + device +
           R"(",port="1",netdev="",source="counters",result=")" + result + R"("})";
  }
  static bool has(const Page& page, const std::string& series) { return page.contains(series); }

  HangingFs* hanging_fs_ = nullptr;
};

TEST_F(BurstCollectorTest, SamplesFromTheFirstScrapeOn) {
  EXPECT_EQ(hanging_fs_->reads(xmit_data("d0")), 0) << "not before somebody asks";
  (void)collect();
  hanging_fs_->wait_for_reads(xmit_data("d0"), 5);
  const Page page = collect();
  EXPECT_EQ(page.at(up("d0")), 1);
  EXPECT_TRUE(has(page, R"(rdma_burst_utilization_ratio{device="d0",port="1",direction="tx"})"));
  double all = 0;
  for (const char* result : {"used", "reset", "implausible", "late", "error"})
    all += page.at(windows("d0", result));
  EXPECT_GE(all, 3);
}

TEST_F(BurstCollectorTest, AReadThatHangsStopsItsDeviceAloneAndRecovers) {
  hanging_fs_->hang(xmit_data("d0"));
  (void)collect();
  hanging_fs_->wait_until_it_hangs();
  hanging_fs_->wait_for_reads(xmit_data("d1"), 3);
  EXPECT_EQ(collect().at(up("d1")), 1);
  // A read of d1 that happens to be in progress looks two seconds old as well: only d0 is asked.
  pass(2s);
  EXPECT_EQ(collect().at(up("d0")), 0);
  hanging_fs_->wait_for_reads(xmit_data("d1"), hanging_fs_->reads(xmit_data("d1")) + 3);
  EXPECT_EQ(hanging_fs_->reads(xmit_data("d0")), 1) << "no second read behind it";
  pass(100h);
  EXPECT_EQ(collect().at(up("d0")), 0);
  hanging_fs_->release();
  hanging_fs_->wait_for_reads(xmit_data("d0"), 3);
  EXPECT_GE(collect().at(windows("d0", "late")), 1) << "what came late is not used";
}

TEST_F(BurstCollectorTest, StopsInTimeAndSaysWhenAThreadIsStuck) {
  hanging_fs_->hang(xmit_data("d0"));
  (void)collect();
  hanging_fs_->wait_until_it_hangs();
  EXPECT_FALSE(stop_now());
  hanging_fs_->release();
  EXPECT_TRUE(stop());
  const int reads = hanging_fs_->reads(xmit_data("d0"));
  (void)collect();
  EXPECT_EQ(hanging_fs_->reads(xmit_data("d0")), reads) << "a thread that was stopped stays so";
}

TEST_F(BurstCollectorTest, OnlyTheDevicesThatWereNamed) {
  context_.burst.devices = core::Pattern("d1");
  (void)collect();
  hanging_fs_->wait_for_reads(xmit_data("d1"), 2);
  const Page page = collect();
  EXPECT_TRUE(has(page, up("d1")));
  EXPECT_FALSE(has(page, up("d0")));
}

TEST_F(BurstCollectorTest, NothingOfARecordingAndNothingOfASingleCollection) {
  context_.burst.live = false;
  EXPECT_TRUE(collect().empty());
  reload();
  context_.burst.live = true;
  host_.make_netlink = [](host::NetlinkProtocol) { return nullptr; };
  EXPECT_TRUE(collect().empty());
}

TEST(SamplingThread, EndsTwoMinutesAfterTheLastScrape) {
  SamplingThreads threads;
  std::mutex mutex;
  std::condition_variable changed;
  int turns = 0;
  const auto thread = threads.make([&](bool) {
    const std::lock_guard lock(mutex);
    ++turns;
    changed.notify_all();
    return BurstClock::now();
  });
  // A scrape of two minutes ago, but for a moment.
  EXPECT_TRUE(thread->keep(BurstClock::now() - SamplingThread::kKept + 50ms));
  EXPECT_TRUE(thread->wait(BurstClock::now() + 1min)) << "it ended by itself";
  EXPECT_EQ(threads.running()->load(), 0U);
  EXPECT_TRUE(thread->keep(BurstClock::now()));
  std::unique_lock lock(mutex);
  const int before = turns;
  changed.wait(lock, [&] { return turns > before; });
  lock.unlock();
  EXPECT_TRUE(threads.stop(BurstClock::now() + 1min));
}

}  // namespace
}  // namespace rdma_exporter::collectors
