// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/tally.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/seconds.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

using core::seconds;

std::string path_text(const probe::Path& path) {
  std::string text = fmt::format("{} from {} port {}", path.target, path.device, path.port);
  if (path.flow != 0) text += fmt::format(" flow {}", path.flow);
  return text;
}

std::string reason_text(const probe::Failure& failure) {
  return fmt::format("{} {}", probe::to_string(failure.stage), failure.reason);
}

std::string raw_start(double time, const probe::Path& path, probe::Op op) {
  return fmt::format("{:.6f}\t{}\t{}\t{}\t{}\t{}", time, path.device, path.port, path.target, path.flow,
                     probe::to_string(op));
}

void add_row(std::string& text, probe::Op op, const Tally& tally) {
  const std::uint64_t results = tally.successes() + tally.failures();
  const std::string name = tally.clock() == probe::RttClock::nic
                               ? fmt::format("{} (nic)", probe::to_string(op))
                               : std::string(probe::to_string(op));
  text += fmt::format("{:<10} {:>8} {:>8} {:>7.2f}%", name, results, tally.failures(),
                      100.0 * static_cast<double>(tally.failures()) / static_cast<double>(results));
  const auto sorted = tally.sorted();
  if (!sorted.empty())
    for (const nanoseconds time : {tally.least(), quantile_of(sorted, 0.5), quantile_of(sorted, 0.9),
                                   quantile_of(sorted, 0.99), quantile_of(sorted, 0.999), tally.most()})
      text += fmt::format(" {:>11}", duration_text(time));
  text += '\n';
}

}  // namespace

void Tally::success(nanoseconds rtt, probe::RttClock clock) {
  if (clock != clock_) {
    clock_ = clock;
    rtts_.clear();
    least_ = nanoseconds::max();
    most_ = 0ns;
  }
  if (rtts_.size() < kKept)
    rtts_.push_back(rtt);
  else
    rtts_[successes_ % kKept] = rtt;
  ++successes_;
  least_ = std::min(least_, rtt);
  most_ = std::max(most_, rtt);
}

void Tally::failure(const probe::Failure& failure) {
  ++failures_;
  ++reasons_[reason_text(failure)];
}

std::vector<nanoseconds> Tally::sorted() const {
  std::vector<nanoseconds> sorted = rtts_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

nanoseconds quantile_of(const std::vector<nanoseconds>& sorted, double quantile) {
  if (sorted.empty()) return 0ns;
  const double rank = std::ceil(quantile * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string duration_text(nanoseconds time) {
  return time < 1ms ? fmt::format("{:.1f} us", seconds(time) * 1e6)
                    : fmt::format("{:.3f} ms", seconds(time) * 1e3);
}

std::string success_line(const probe::Path& path, probe::Op op, const probe::Completion& completion) {
  std::string line =
      fmt::format("{}: {} {}", path_text(path), probe::to_string(op), duration_text(completion.rtt));
  if (completion.clock == probe::RttClock::nic) line += " by the adapter's clock";
  if (completion.peer_delay)
    line += fmt::format(", of which {} in the peer's process", duration_text(*completion.peer_delay));
  return line + '\n';
}

std::string failure_line(const probe::Path& path, probe::Op op, const probe::Failure& failure) {
  return fmt::format("{}: {} failed: {}\n", path_text(path), probe::to_string(op), reason_text(failure));
}

std::string tallies_text(const Tallies& tallies) {
  std::string text;
  for (const auto& [path, operations] : tallies) {
    text += fmt::format("--- {}\n{:<10} {:>8} {:>8} {:>8} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n",
                        path_text(path), "operation", "probes", "failed", "loss", "min", "p50", "p90", "p99",
                        "p99.9", "max");
    for (const auto& [op, tally] : operations) add_row(text, op, tally);
    for (const auto& [op, tally] : operations)
      for (const auto& [reason, count] : tally.reasons())
        text += fmt::format("{} failed {} times: {}\n", probe::to_string(op), count, reason);
  }
  return text;
}

std::string tallies_json(const Tallies& tallies) {
  auto results = nlohmann::ordered_json::array();
  for (const auto& [path, operations] : tallies) {
    for (const auto& [op, tally] : operations) {
      nlohmann::ordered_json result{
          {"target", path.target},      {"device", path.device},
          {"port", path.port},          {"flow", path.flow},
          {"op", probe::to_string(op)}, {"probes", tally.successes() + tally.failures()},
          {"failed", tally.failures()}, {"failures", tally.reasons()}};
      if (const auto sorted = tally.sorted(); !sorted.empty()) {
        result["clock"] = probe::to_string(tally.clock());
        result["rtt_seconds"] = {{"min", seconds(tally.least())},
                                 {"p50", seconds(quantile_of(sorted, 0.5))},
                                 {"p90", seconds(quantile_of(sorted, 0.9))},
                                 {"p99", seconds(quantile_of(sorted, 0.99))},
                                 {"p99.9", seconds(quantile_of(sorted, 0.999))},
                                 {"max", seconds(tally.most())}};
      }
      results.push_back(std::move(result));
    }
  }
  const nlohmann::ordered_json document{{"results", std::move(results)}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

std::string raw_header() {
  return "time\tdevice\tport\ttarget\tflow\top\trtt_ns\tpeer_ns\twait\tclock\tfailure\n";
}

std::string raw_line(double time, const probe::Path& path, probe::Op op,
                     const probe::Completion& completion) {
  const std::string peer = completion.peer_delay ? std::to_string(completion.peer_delay->count()) : "";
  const char* wait = completion.slept ? "event" : completion.preempted ? "preempted" : "spin";
  return fmt::format("{}\t{}\t{}\t{}\t{}\t\n", raw_start(time, path, op), completion.rtt.count(), peer, wait,
                     probe::to_string(completion.clock));
}

std::string raw_line(double time, const probe::Path& path, probe::Op op, const probe::Failure& failure) {
  return fmt::format("{}\t\t\t\t\t{}\n", raw_start(time, path, op), reason_text(failure));
}

}  // namespace rdma_exporter::commands
