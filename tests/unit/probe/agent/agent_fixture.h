// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>

#include "probe/agent/agent.h"
#include "tests/unit/probe/verbs_fixture.h"
#include "tests/unit/support/free_port.h"

namespace rdma_exporter::probe {

/// The whole probe over adapters that are none: side channel, queue pairs, schedule and metrics.
class AgentTest : public VerbsTest {
 protected:
  AgentTest() {
    options.hostmesh = true;
    options.session.interval = 20ms;
    options.session.echo_interval = 20ms;
    options.session.host = "here";
  }
  void TearDown() override {
    EXPECT_TRUE(agent.stop(Clock::now() + 10s));
    VerbsTest::TearDown();
  }
  void configure() {
    const auto done = agent.configure(options);
    ASSERT_TRUE(done) << done.error().context.text();
  }

  using Values = std::map<std::string, double>;
  /// Of a metric by labels.
  Values values(const std::string& name) const {
    core::SampleBatch batch;
    agent.add(batch);
    Values found;
    for (const core::Sample& sample : batch.samples()) {
      if (sample.metric->name != name) continue;
      const bool histogram = sample.metric->type == core::MetricType::histogram;
      found[sample.labels()] = histogram        ? static_cast<double>(sample.histogram->count())
                               : sample.is_real ? sample.real
                                                : static_cast<double>(sample.integer);
    }
    return found;
  }
  double value(const std::string& name, const std::string& labels) const {
    const Values all = values(name);
    const auto found = all.find(labels);
    return found == all.end() ? -1 : found->second;
  }
  bool becomes(const std::string& name, const std::string& labels, double wanted) const {
    return soon([&] { return value(name, labels) == wanted; });
  }
  /// All series of the metric that have this in their labels together.
  double sum(const std::string& name, const std::string& part = "") const {
    double sum = 0;
    for (const auto& [labels, number] : values(name))
      if (labels.find(part) != std::string::npos) sum += number;
    return sum;
  }
  std::string labels_of(const std::string& name, const std::string& part) const {
    for (const auto& [labels, number] : values(name))
      if (labels.find(part) != std::string::npos) return labels;
    return "none";
  }
  bool both_work() const {
    return soon([this] {
      return value("rdma_probe_up", kNear) == 1 && value("rdma_probe_up", kFar) == 1 &&
             sum("rdma_probe_echo_replies_total") >= 20;
    });
  }
  std::set<std::string> devices_of_qps() const {
    std::set<std::string> devices;
    for (const auto& qp : fabric.queue_pairs()) devices.insert(qp.device);
    return devices;
  }

  /// One target with a responder of its own, without a written address.
  void probe_far0_from_near0() {
    const std::uint16_t port = test::free_port();
    options.hostmesh = false;
    options.responder.enabled = true;
    options.responder.listen = {{{asio::ip::make_address("127.0.0.1"), port}}};
    options.targets = {
        {.name = "only", .address = "127.0.0.1", .port = port, .device = "far0", .from = "near0"}};
  }

  static constexpr const char* kOnly = R"(device="near0",port="1",target="only",flow="0")";
  static constexpr const char* kNear = R"(device="near0",port="1",target="far0",flow="0")";
  static constexpr const char* kNearPort = R"(device="near0",port="1")";
  static constexpr const char* kFarPort = R"(device="far0",port="1")";
  static constexpr const char* kFar = R"(device="far0",port="1",target="near0",flow="0")";
  AgentOptions options;
  std::atomic<unsigned> preset{0};  ///< traffic class of port 1 of near0; 0: none
  Agent agent{[this](const std::string& device, std::uint8_t port) {
    return device == "near0" && port == 1 && preset != 0 ? std::optional(preset.load()) : std::nullopt;
  }};
};

}  // namespace rdma_exporter::probe
