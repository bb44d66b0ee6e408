// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: the table in docs/PROBE.md of what the probe costs a fleet agrees with the actual selection.
// UPDATE_PROBE_TABLE=1 prints the table instead of comparing it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/histogram.h"
#include "core/sample_batch.h"
#include "probe/mesh/selection.h"
#include "probe/stats/registry.h"
#include "probe/stats/target_stats.h"

namespace rdma_exporter::test {
namespace {

using probe::Choice;
using probe::Member;
using probe::Scope;
using probe::Selection;

constexpr std::size_t kRing = 4;
constexpr std::size_t kRotate = 4;
constexpr double kEpochHours = 5.0 / 60;

// Bytes on the wire of one probe and its ACK, with preamble, FCS and gap (24 each): a WRITE of 0 bytes and a
// SEND of 16 have 74 without them, an ACK has 62. A write is posted twice (warm-up), an echo is two SENDs.
constexpr double kProbeBytes = 2 * (74 + 62 + 2 * 24);
constexpr double kProbesPerSecond = 1 + 1.0 / 5;  // a write each second, an echo every fifth

std::vector<Member> fleet(std::size_t hosts) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < hosts; ++i) members.push_back({"gpu-" + std::to_string(i) + ":9401", ""});
  return members;
}

struct Degrees {
  std::size_t least = 0;
  std::size_t most = 0;
};

Degrees in_degrees(const Selection& selection, const std::vector<Member>& members, std::uint64_t epoch) {
  std::map<std::string_view, std::size_t> probed;
  for (const Member& member : members)
    for (const Choice& choice : selection.choose(member.name, Scope::same, kRing, kRotate, epoch))
      ++probed[choice.name];
  Degrees degrees{probed.size() < members.size() ? 0 : members.size(), 0};
  for (const auto& [name, count] : probed) {
    degrees.least = std::min(degrees.least, count);
    degrees.most = std::max(degrees.most, count);
  }
  return degrees;
}

// Epochs until one host has probed all others.
std::size_t epochs_to_cover(const Selection& selection, const std::vector<Member>& members) {
  std::set<std::string_view> seen;
  std::size_t epochs = 0;
  while (seen.size() < members.size() - 1 && epochs < 4 * members.size()) {
    for (const Choice& choice :
         selection.choose(members.front().name, Scope::same, kRing, kRotate, 5'900'000 + epochs))
      seen.insert(choice.name);
    ++epochs;
  }
  return epochs;
}

// Lines of a page that one adapter's sessions make: those that stay, each with histograms of its own, the sum
// of those that rotate, and what their one group and the adapter have.
std::size_t series(std::size_t steady, bool rotating) {
  using probe::TargetStats;
  probe::Registry::Contents contents;
  contents.active = true;
  const auto histogram = [] { return std::make_shared<core::Histogram>(probe::kRttBounds); };
  const TargetStats::Histograms histograms{{histogram(), nullptr, histogram()}, nullptr, {}};
  TargetStats::Histograms of_group{{}, histogram(), {}};
  of_group.cold = histogram();
  for (auto& step : of_group.connect) step = std::make_shared<core::Histogram>(probe::kConnectBounds);
  contents.rtts.push_back({"mlx5_0", 1, "", "pod1", of_group});
  contents.nics.push_back(std::make_shared<probe::NicStats>());
  for (std::size_t i = 0; i < steady + (rotating ? 1 : 0); ++i) {
    const std::string name = i < steady ? "gpu-" + std::to_string(i) : "";
    const auto stats = std::make_shared<TargetStats>();
    for (const probe::Op op : {probe::Op::write, probe::Op::echo}) {
      stats->attempt(op);
      stats->success(op, {.rtt = std::chrono::microseconds(5), .peer_delay = {}, .slept = false});
    }
    stats->set_session(probe::Session::State::up, probe::SessionFacts{});
    contents.series.push_back({"mlx5_0", 1, name, 0, stats});
    contents.rtts.push_back({"mlx5_0", 1, name, "pod1", histograms});
  }
  probe::Registry registry;
  registry.publish(std::move(contents));
  core::SampleBatch batch;
  registry.add(batch);
  std::size_t lines = 0;
  for (const core::Sample& sample : batch.samples())  // a histogram: its buckets, +Inf, sum and count
    if (sample.metric->set == core::MetricSet::lean &&
        sample.labels().find("device=") != std::string_view::npos)
      lines += sample.metric->type == core::MetricType::histogram ? sample.histogram->buckets.size() + 2 : 1;
  return lines;
}

std::string row(std::size_t hosts) {
  const std::vector<Member> members = fleet(hosts);
  const Selection selection(members);
  const Degrees now = in_degrees(selection, members, 5'900'000);
  const Degrees later = in_degrees(selection, members, 5'900'077);
  const std::size_t epochs = epochs_to_cover(selection, members);
  const std::size_t targets = selection.choose(members.front().name, Scope::same, kRing, kRotate, 0).size();
  const auto peers = static_cast<double>(targets + now.most);
  const std::size_t steady = std::min(targets, kRing);
  char text[200];
  std::snprintf(text, sizeof(text),
                "| %zu | %zu | %zu to %zu | %zu epochs, %.1f h | %zu | %.0f | %.0f B/s |\n", hosts, targets,
                std::min(now.least, later.least), std::max(now.most, later.most), epochs,
                static_cast<double>(epochs) * kEpochHours, series(steady, targets > steady), 2 * peers,
                peers * kProbeBytes * kProbesPerSecond);
  return text;
}

TEST(ProbeScale, IsWhatTheDocumentSays) {
  std::string table;
  for (const std::size_t hosts : {2U, 16U, 512U, 8192U}) table += row(hosts);
  if (std::getenv("UPDATE_PROBE_TABLE") != nullptr) {
    std::fputs(table.c_str(), stdout);
    return;
  }
  std::ifstream file(SOURCE_DIR "/docs/PROBE.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find(table), std::string::npos) << "the table is now:\n" << table;
}

}  // namespace
}  // namespace rdma_exporter::test
