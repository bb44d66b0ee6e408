// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/page/host_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "core/labels.h"
#include "doctor/page/port_summary.h"
#include "tests/unit/support/failing_new.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;
using core::MetricDesc;
using core::MetricType;
using testing::HasSubstr;

constexpr MetricDesc kState{"rdma_port_state", MetricType::gauge, "device,port", "", "x", "x"};
constexpr MetricDesc kRate{"rdma_port_rate_bytes_per_second", MetricType::gauge, "device,port", "", "x", "x"};
constexpr MetricDesc kTimeouts{
    "rdma_port_ack_timeouts_total", MetricType::counter, "device,port", "", "x", "x"};
constexpr MetricDesc kBytes{
    "rdma_port_data_bytes_total", MetricType::counter, "device,port,direction", "bytes", "x", "x"};
constexpr MetricDesc kDeviceInfo{
    "rdma_device_info", MetricType::gauge, "device,fw_version,driver", "", "x", "x"};
constexpr MetricDesc kPortInfo{
    "rdma_port_info", MetricType::gauge, "device,port,link_layer,netdev", "", "x", "x"};
constexpr MetricDesc kCheck{"rdma_config_check", MetricType::gauge, "check,device,port,netdev", "", "x", "x"};
constexpr MetricDesc kStorms{
    "rdma_netdev_pause_storm_events_total", MetricType::counter, "netdev", "", "x", "x"};
constexpr MetricDesc kOther{"rdma_device_up", MetricType::gauge, "device", "", "x", "x"};

const std::string kPort = R"(device="mlx5_0",port="1")";

class HostViewTest : public testing::Test {
 protected:
  // A collection `after` the first one.
  void collect(std::chrono::milliseconds after, std::uint64_t timeouts, std::uint64_t bytes,
               bool whole = true) {
    core::SampleBatch batch;
    batch.add(kState, kPort, std::uint64_t{4});
    batch.add(kRate, kPort, 50e9);
    batch.add(kOther, R"(device="mlx5_0")", std::uint64_t{1});
    batch.add(kTimeouts, kPort, timeouts);
    batch.add(kBytes, kPort + R"(,direction="rx")", bytes);
    view.observe({&batch}, whole, start + after);
  }
  std::vector<doctor::PortSummary> ports() {
    content = view.content();
    problems = doctor::problems_of(content.findings);
    return doctor::summarize_ports(content.facts, problems);
  }

  HostView view{"gpu-17", "6.1.0"};
  const HostView::Clock::time_point start{1h};
  HostView::Content content;
  std::vector<doctor::Problem> problems;
};

TEST_F(HostViewTest, IsEmptyBeforeTheFirstCollection) {
  EXPECT_TRUE(ports().empty());
  EXPECT_EQ(content.facts.sample_seconds, 0);
}

TEST_F(HostViewTest, ShowsPortsOfSamplesAlone) {
  collect(0s, 0, 0);
  const auto shown = ports();
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].name, "mlx5_0/1");
  EXPECT_EQ(shown[0].state, "ACTIVE, 400 Gb/s");
  EXPECT_TRUE(problems.empty());
}

TEST_F(HostViewTest, MakesRatesOfTheLastTwoCollections) {
  collect(0s, 7, 1'000);
  collect(15s, 7, 1'000);
  collect(30s, 37, 1'000 + 15 * 25'000'000'000ULL);
  const auto shown = ports();
  EXPECT_EQ(content.facts.sample_seconds, 15);
  ASSERT_EQ(shown[0].bars.size(), 1U);
  EXPECT_DOUBLE_EQ(shown[0].bars[0].share, 0.5);
  ASSERT_EQ(shown[0].sentences.size(), 1U);
  EXPECT_EQ(shown[0].sentences[0], "30 acknowledgements timed out in the last 15 s");
}

TEST_F(HostViewTest, SeveralServersDoNotMakeRatesOfMoments) {
  for (int i = 0; i <= 60; ++i) collect(i * 500ms, 100U + static_cast<unsigned>(i), 0);
  ports();
  EXPECT_GE(content.facts.sample_seconds, 5);
  EXPECT_LE(content.facts.sample_seconds, 11);
}

TEST_F(HostViewTest, ACounterThatFallsHasNoRate) {
  collect(0s, 500, 0);
  collect(15s, 3, 0);
  EXPECT_TRUE(ports()[0].sentences.empty());
}

TEST_F(HostViewTest, ADeviceThatAppearsDoesNotShowItsPastAsARate) {
  core::SampleBatch nothing;
  view.observe({&nothing}, true, start);
  collect(15s, 1'000'000, 0);
  EXPECT_TRUE(ports()[0].sentences.empty());
}

TEST_F(HostViewTest, ACollectionOfSomeCollectorsKeepsWhatOthersSaid) {
  collect(0s, 0, 0);
  core::SampleBatch other;
  other.add(kTimeouts, kPort, std::uint64_t{5});
  view.observe({&other}, false, start + 15s);
  EXPECT_EQ(ports().size(), 1U);
  view.observe({&other}, true, start + 30s);
  EXPECT_TRUE(ports().empty()) << "the device has gone";
}

TEST_F(HostViewTest, CollectionsOfSomeCollectorsMayFollowEachOther) {
  const auto collect_some = [&](std::chrono::seconds after,
                                std::vector<std::pair<std::string, std::uint64_t>> ports) {
    core::SampleBatch batch;
    for (const auto& [device, state] : ports)
      batch.add(kState, core::render_labels({{"device", device}, {"port", "1"}}), state);
    view.observe({&batch}, false, start + after);
  };
  const auto states = [&] {
    std::vector<std::uint32_t> all;
    for (const auto& device : view.content().facts.devices)
      if (const auto& state = device.ports.at(0).state) all.push_back(*state);
    return all;
  };
  collect(0s, 7, 1000);
  for (const auto after : {15s, 30s, 45s}) {
    collect_some(after, {{"mlx5_0", after == 30s ? 1 : 4}});
    EXPECT_EQ(states(), std::vector<std::uint32_t>{after == 30s ? 1U : 4U});
    const auto counters = view.content().facts.counters;
    ASSERT_EQ(counters.size(), 2U);
    EXPECT_EQ(counters[0].total, 7);
    EXPECT_EQ(counters[1].total, 1000);
  }
  collect_some(60s, {{"mlx5_0", 4}, {"mlx5_1", 2}});
  EXPECT_EQ(states(), (std::vector<std::uint32_t>{4, 2}));
  collect_some(75s, {{"mlx5_1", 4}});
  EXPECT_EQ(states(), std::vector<std::uint32_t>{4});
  EXPECT_EQ(view.content().facts.counters.size(), 2U);
  collect(90s, 8, 0);
  EXPECT_EQ(view.content().facts.counters.size(), 1U) << "a collection of all has the last word";
}

TEST_F(HostViewTest, SaysWhatOtherFamiliesKnowOfThePort) {
  core::SampleBatch batch;
  batch.add(kDeviceInfo, R"(device="mlx5_0",fw_version="28.39.1002",driver="mlx5_core")", std::uint64_t{1});
  batch.add(kPortInfo, kPort + R"(,link_layer="Ethernet",netdev="cx0")", std::uint64_t{1});
  batch.add(kState, kPort, std::uint64_t{1});
  batch.add(kCheck, R"(check="netdev_mtu",device="mlx5_0",port="1",netdev="cx0")", std::uint64_t{1});
  batch.add(kCheck, R"(check="pfc",device="mlx5_0",port="1",netdev="cx0")", std::uint64_t{0});
  batch.add(kCheck, R"(check="of a later version",device="mlx5_0",port="1",netdev="cx0")", std::uint64_t{2});
  view.observe({&batch}, true, start);
  const auto shown = ports();
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].netdev, "cx0");
  EXPECT_EQ(shown[0].device, "mlx5_core 28.39.1002");
  EXPECT_EQ(shown[0].verdict, doctor::Verdict::critical);
  EXPECT_EQ(shown[0].sentences,
            (std::vector<std::string>{"the port is DOWN: no traffic passes through it",
                                      "failed check: \"The interface's MTU is 4200 or more\""}));
  EXPECT_EQ(content.facts.system.host_name.value_or(""), "gpu-17");
}

TEST_F(HostViewTest, CountersOfAnInterfaceBelongToItsPort) {
  core::SampleBatch batch;
  batch.add(kPortInfo, kPort + R"(,link_layer="Ethernet",netdev="cx0")", std::uint64_t{1});
  batch.add(kState, kPort, std::uint64_t{4});
  batch.add(kStorms, R"(netdev="cx0")", std::uint64_t{3});
  view.observe({&batch}, true, start);
  ASSERT_EQ(ports().size(), 1U);
  EXPECT_THAT(ports()[0].sentences, testing::Contains(HasSubstr("the adapter reported 3 pause storms")));
}

struct Series {
  const MetricDesc* metric;
  std::string owner;
  std::string own = {};
};

// A batch of such samples, with the values 1, 2 and so on.
class Collection {
 public:
  explicit Collection(const std::vector<Series>& all) {
    for (const auto& [metric, owner, own] : all) {
      const std::string& labels = texts_.emplace_back(owner);  // each sample has a copy of its own
      batch_.add_stable(*metric, labels, std::uint64_t{texts_.size()}, texts_.emplace_back(own));
    }
  }
  const std::vector<const core::SampleBatch*>& batches() const { return batches_; }

 private:
  std::deque<std::string> texts_;
  core::SampleBatch batch_;
  const std::vector<const core::SampleBatch*> batches_{&batch_};
};

// All that `view` knows of counters, a line for each.
std::vector<std::string> counters_of(const HostView& view) {
  std::vector<std::string> lines;
  for (const doctor::CounterFacts& counter : view.content().facts.counters)
    lines.push_back(counter.metric + "{" + counter.labels + "} " + std::to_string(counter.total));
  return lines;
}

// What stands once for many samples must not make them alike: each collection is what a new view makes of it.
TEST_F(HostViewTest, ShowsCollectionsThatDifferFromTheOneBefore) {
  const std::string a = R"(device="a",port="1")";
  const std::string b = R"(device="b",port="1")";
  const std::string rx = R"(direction="rx")";
  const std::string tx = R"(direction="tx")";
  const std::vector<std::vector<Series>> collections{
      {{&kBytes, a, rx},
       {&kBytes, a, tx},
       {&kTimeouts, a},
       {&kBytes, b, rx},
       {&kBytes, b, tx},
       {&kTimeouts, b}},
      {{&kBytes, a, rx},
       {&kBytes, a, tx},
       {&kTimeouts, a},
       {&kBytes, b, rx},
       {&kBytes, b, rx},
       {&kTimeouts, b}},
      {{&kBytes, a, rx}, {&kBytes, b, rx}, {&kBytes, a, tx}, {&kBytes, b, tx}, {&kTimeouts, a}},
      {{&kBytes, a, rx}, {&kBytes, b, rx}, {&kBytes, b, tx}, {&kBytes, a, tx}, {&kTimeouts, b}},
      {{&kBytes, a, rx}, {&kBytes, b, rx}},
      {},
      {{&kTimeouts, a}, {&kTimeouts, b}, {&kBytes, b, tx}, {&kBytes, a, tx}},
      {{&kTimeouts, a, rx}, {&kTimeouts, b, rx}, {&kBytes, b, rx}, {&kBytes, a, tx}},
      {{&kTimeouts, a, rx}, {&kTimeouts, a + ",", rx}, {&kTimeouts, a, rx + ","}, {&kTimeouts, "", a}},
  };
  auto now = start;
  for (const std::vector<Series>& all : collections) {
    const Collection collection(all);
    for (int i = 0; i < 2; ++i) {  // each one is followed by one like it
      view.observe(collection.batches(), true, now += 15s);
      HostView fresh("", "");
      fresh.observe(collection.batches(), true, now);
      EXPECT_EQ(counters_of(view), counters_of(fresh));
      EXPECT_EQ(counters_of(view).size(), all.size());
    }
  }
}

// Where memory is missing the collection before stays, or the tables keep some spare room.
TEST_F(HostViewTest, LosesNothingWithoutMemory) {
  const Collection small({{&kState, kPort}, {&kTimeouts, kPort}, {&kStorms, "netdev=\"cx0\""}});
  const Collection grown({{&kState, kPort}, {&kTimeouts, kPort}, {&kBytes, kPort, "direction=\"rx\""}});
  std::set<std::size_t> shown;
  testing::internal::CaptureStderr();  // a line for each failure
  bool happened = true;
  for (long granted = 0; happened && granted < 1000; ++granted) {
    HostView tried("", "");
    tried.observe(small.batches(), true, start);
    tried.observe(small.batches(), true, start + 15s);
    {
      const test::FailingNew failing(granted);
      tried.observe(grown.batches(), false, start + 30s);
      happened = failing.happened();
    }
    shown.insert(counters_of(tried).size());
    EXPECT_EQ(tried.content().facts.sample_seconds, 15) << granted;
  }
  testing::internal::GetCapturedStderr();
  EXPECT_FALSE(happened);
  EXPECT_EQ(shown, (std::set<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace rdma_exporter::app
