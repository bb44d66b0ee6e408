// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/stats/sessions_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class SessionsJson : public testing::Test {
 protected:
  SessionsJson() { contents.active = true; }
  std::shared_ptr<TargetStats> add(std::vector<Registry::Series>& to, const std::string& target) {
    const auto stats = std::make_shared<TargetStats>();
    to.push_back({"mlx5_0", 1, target, 2, stats});
    return stats;
  }
  json document() const { return json::parse(sessions_json(contents)); }

  Registry::Contents contents;
};

TEST_F(SessionsJson, IsADocumentAlsoWhileTheProbeIsOff) {
  contents.active = false;
  EXPECT_EQ(document()["active"], false);
  EXPECT_EQ(document()["sessions"], json::array());
  EXPECT_FALSE(document().contains("mesh_member"));
}

TEST_F(SessionsJson, HasOfASessionStateFailureAndCounts) {
  const auto stats = add(contents.series, "gpu-17");
  stats->attempt(Op::write);
  stats->success(Op::write, {.rtt = 3us, .peer_delay = {}});
  stats->attempt(Op::write);
  stats->failure(Op::write, {Stage::op, "retry_exc_err"});
  stats->unsent(Op::write, {Stage::tcp, kPeerClosed});
  stats->count_connect();
  stats->set_session(Session::State::backoff, std::nullopt);
  const json session = document()["sessions"].at(0);
  EXPECT_EQ(session["device"], "mlx5_0");
  EXPECT_EQ(session["target"], "gpu-17");
  EXPECT_EQ(session["flow"], 2);
  EXPECT_EQ(session["rotating"], false);
  EXPECT_EQ(session["state"], "backoff");
  EXPECT_EQ(session["up"], false);
  EXPECT_EQ(session["last_failure"], json({{"stage", "tcp"}, {"reason", "peer_closed"}}));
  EXPECT_FALSE(session.contains("connection")) << "there is none";
  EXPECT_EQ(session["connects"], 1);
  const json& write = session["operations"]["write"];
  EXPECT_EQ(write["attempts"], 2);
  EXPECT_EQ(write["successes"], 1);
  EXPECT_DOUBLE_EQ(write["last_rtt_seconds"].get<double>(), 3e-6);
  EXPECT_EQ(write["failures"], json::parse(R"([{"stage": "op", "reason": "retry_exc_err", "count": 1}])"));
  EXPECT_FALSE(session["operations"].contains("echo")) << "none was due";
  EXPECT_EQ(session["control_failures"].at(0)["count"], 1);
}

TEST_F(SessionsJson, ShowsEachRotatingTargetAndNotTheirSum) {
  add(contents.series, "");
  add(contents.rotating, "gpu-18")
      ->set_session(Session::State::up, SessionFacts{.path_mtu = 4096,
                                                     .udp_source_port = 53812,
                                                     .local_address = "192.0.2.1",
                                                     .peer_address = "192.0.2.2",
                                                     .peer_device = "mlx5_0",
                                                     .op = Op::write});
  const json sessions = document()["sessions"];
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0]["target"], "gpu-18");
  EXPECT_EQ(sessions[0]["rotating"], true);
  EXPECT_EQ(sessions[0]["state"], "up");
  EXPECT_EQ(sessions[0]["connection"]["udp_source_port"], 53812);
  EXPECT_EQ(sessions[0]["connection"]["peer_address"], "192.0.2.2");
}

TEST_F(SessionsJson, SaysWhereTargetsComeFromAndWhoProbesThisHost) {
  contents.responder = true;
  contents.mesh_member = false;
  contents.nics.push_back(std::make_shared<NicStats>());
  contents.nics[0]->device = "mlx5_0";
  contents.nics[0]->inbound_sessions = 4;
  discovery::SourceStatus source;
  source.kind = "dns_sd";
  source.name = "probe.monitoring.svc";
  source.failing = true;
  contents.sources.push_back(source);
  EXPECT_EQ(document()["inbound_sessions"], json({{"mlx5_0", 4}}));
  EXPECT_EQ(document()["mesh_member"], false);
  EXPECT_EQ(document()["sources"],
            json::parse(R"([{"kind": "dns_sd", "source": "probe.monitoring.svc", "failing": true}])"));
}

}  // namespace
}  // namespace rdma_exporter::probe
