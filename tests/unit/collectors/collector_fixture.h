// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Runs one collector like the engine does: discovery, then one run of each job, on trees of files with
// scripted netlink answers and a scripted verbs device.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/collector_set.h"
#include "core/job.h"
#include "host/netlink/nldev/nldev.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec device_spec;
extern const CollectorSpec port_spec;
extern const CollectorSpec port_counters_spec;
extern const CollectorSpec hw_counters_spec;
extern const CollectorSpec events_spec;
extern const CollectorSpec resource_spec;

class ScriptedVerbs : public host::Verbs {
 public:
  core::Result<host::PortMtu> port_mtu(const std::string& /*device*/, std::uint32_t /*port*/) override {
    ++queries;
    return answer;
  }
  core::Result<std::unique_ptr<host::AsyncEvents>> async_events(const std::string& /*device*/) override {
    ++opens;
    if (async_refusal != 0) return core::os_error(async_refusal, "/dev/infiniband/uverbs0");
    return std::make_unique<SilentEvents>();
  }
  core::Result<host::DeviceLimits> device_limits(const std::string& /*device*/) override {
    ++limit_queries;
    return limits;
  }
  core::Result<host::PortMtu> answer = host::PortMtu{1024, 4096};
  core::Result<host::DeviceLimits> limits = host::DeviceLimits{};
  int queries = 0;
  int limit_queries = 0;
  int async_refusal = 0;  ///< errno
  int opens = 0;

 private:
  // Open, and nothing happens.
  class SilentEvents : public host::AsyncEvents {
   public:
    int fd() const override { return -1; }
    core::Result<std::optional<host::AsyncEvent>> next() override { return std::nullopt; }
    const std::string& node() const override { return node_; }

   private:
    std::string node_ = "uverbs0";
  };
};

class CollectorFixture : public ::testing::Test {
 protected:
  using Page = std::map<std::string, double>;  ///< `name{labels}` -> value
  using Counts = std::map<std::string, std::uint64_t>;

  explicit CollectorFixture(const CollectorSpec& spec) : specs_{&spec} {
    context_.enabled = {std::string(spec.name)};
    context_.metrics.set = core::MetricSet::full;
    auto fs = std::make_unique<test::WatchedFs>(host::make_host_fs(tree_.root()));
    fs_ = fs.get();
    host_.sysfs = std::move(fs);
    host_.procfs = host::make_host_fs(proc_.root());
    auto verbs = std::make_unique<ScriptedVerbs>();
    verbs_ = verbs.get();
    host_.verbs = std::move(verbs);
    host_.make_netlink = [this](host::NetlinkProtocol protocol) {
      return std::make_unique<test::ScriptedNetlink>(script(protocol));
    };
  }

  /// One collection; refills errors_ and dropped_.
  Page collect() {
    if (!set_) set_.emplace(context_, specs_, [](const std::string&) { return true; });
    EXPECT_TRUE(set_->refresh().has_value());
    ++cycle_;
    errors_.clear();
    dropped_.clear();
    Page page;
    for (const auto& job : set_->jobs()) {
      core::JobRun run(cycle_, now());
      job->run(run);
      add(run, page);
    }
    return page;
  }

  /// Those of the last collection.
  CollectorSet::Jobs jobs() const { return set_->jobs(); }
  /// New collectors, as after a reload of the configuration.
  void reload() { set_.reset(); }
  /// As before the end of the program.
  bool stop() { return stop_until(std::chrono::steady_clock::now() + std::chrono::minutes(1)); }
  bool stop_now() { return stop_until(std::chrono::steady_clock::now()); }

  /// Lets time pass for the jobs.
  void pass(std::chrono::seconds time) { passed_ += time; }

  /// Files of an ACTIVE port as the kernel prints them.
  void add_port(const std::string& device, const std::string& port = "1") const {
    const std::string path = port_path(device, port);
    tree_.write(path + "state", "4: ACTIVE\n");
    tree_.write(path + "phys_state", "5: LinkUp\n");
    tree_.write(path + "rate", "100 Gb/sec (4X EDR)\n");
    tree_.write(path + "link_layer", "Ethernet\n");
  }
  static std::string device_path(const std::string& device) { return "class/infiniband/" + device + "/"; }
  static std::string port_path(const std::string& device, const std::string& port = "1") {
    return device_path(device) + "ports/" + port + "/";
  }
  /// The name of the driver is read from the link alone: its target need not exist.
  void set_driver(const std::string& device, const std::string& driver) const {
    tree_.link("../../../../bus/pci/drivers/" + driver, device_path(device) + "device/driver");
  }
  /// As in a tree of files.
  void use_no_netlink() {
    host_.make_netlink = [](host::NetlinkProtocol) { return nullptr; };
  }
  /// rxe0 becomes known to netlink, whose answers were recorded.
  void answer_netlink() const {
    script_->answers[host::nldev::kGet] = {test::recorded_message("get_0.bin")};
    script_->answers[host::nldev::kPortGet] = {test::recorded_message("port_get_0.bin")};
    script_->answers[host::nldev::kStatGet] = {test::recorded_message("stat_get_0.bin")};
  }

  test::TempTree tree_;  ///< sysfs
  test::TempTree proc_;  ///< procfs
  test::WatchedFs* fs_ = nullptr;
  ScriptedVerbs* verbs_ = nullptr;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();  ///< RDMA netlink
  std::shared_ptr<test::Script> route_script_ = std::make_shared<test::Script>();
  std::shared_ptr<test::Script> generic_script_ = std::make_shared<test::Script>();
  host::Host host_;
  Context context_{host_};
  Counts errors_;
  Counts dropped_;
  std::vector<const CollectorSpec*> specs_;

 private:
  std::shared_ptr<test::Script> script(host::NetlinkProtocol protocol) const {
    if (protocol == host::NetlinkProtocol::route) return route_script_;
    return protocol == host::NetlinkProtocol::generic ? generic_script_ : script_;
  }
  bool stop_until(std::chrono::steady_clock::time_point deadline) { return !set_ || set_->stop(deadline); }
  core::JobRun::Clock::time_point now() const { return core::JobRun::Clock::now() + passed_; }

  void add(const core::JobRun& run, Page& page) {
    for (const core::Sample& sample : run.samples().samples()) {
      std::string key(sample.metric->name);
      key.append("{").append(sample.labels()).append("}");
      const double value = sample.is_real ? sample.real : static_cast<double>(sample.integer);
      EXPECT_TRUE(page.emplace(key, value).second) << "twice: " << key;
    }
    for (const auto& [reason, n] : run.read_errors()) errors_[std::string(reason)] += n;
    for (const auto& [reason, n] : run.dropped()) dropped_[std::string(reason)] += n;
  }

  std::chrono::seconds passed_{0};
  std::uint64_t cycle_ = 0;
  std::optional<CollectorSet> set_;
};

}  // namespace rdma_exporter::collectors
