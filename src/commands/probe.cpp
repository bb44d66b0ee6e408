// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// rdma_exporter probe: the daemon's probe as a command that shows each result.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "app/command.h"
#include "app/probe_options.h"
#include "asio/asio.h"
#include "commands/probe_screen.h"
#include "config/flags/value_type.h"
#include "config/probe_target.h"
#include "probe/agent/agent.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;

constexpr auto kGraceForThreads = 2s;

constexpr std::array kFlags{
    config::CommandFlag{"--op", "OP", "write, read or echo (default: --probe.operations)."},
    config::CommandFlag{"--count", "NUMBER",
                        "End after so many operations of each kind (default: at Ctrl-C)."},
    config::CommandFlag{"--interval", "DURATION",
                        "Between two operations of a kind, 10ms to 1h (default: --probe.interval)."},
    config::CommandFlag{"--flows", "NUMBER", "Connections to each target, each over a path of its own."},
    config::CommandFlag{"--connect", "WAY",
                        "How queue pairs are connected: auto, verbs or rdma_cm (default: --probe.connect)."},
    config::CommandFlag{"--json", "", "Print one JSON document at the end, and nothing else."},
    config::CommandFlag{"--raw", "", "Print each sample, fields separated by tabs, and nothing else."},
};

constexpr std::string_view kDescription =
    "Measures the latency of RC verbs to targets that answer probes: daemons with --probe.responder, or\n"
    "`rdma_exporter responder`. A target is HOST[:PORT] with attributes, as in probe.targets: "
    "docs/PROBE.md.\n"
    "All --probe flags hold here too; most of all those of certificates or secret. Ctrl-C ends it, Ctrl-\\ "
    "shows\n"
    "what there is so far. Exit status: 1 when nothing worked to one of the targets.";

struct Wanted {
  probe::AgentOptions options;
  ScreenOptions screen;
};

core::Result<void> take_flags(const config::CommandLine& line, config::ProbeConfig& probe, Wanted& wanted) {
  if (line.has("--json") && line.has("--raw")) return core::config_error("--json and --raw: use one of them");
  if (line.has("--json")) wanted.screen.output = ScreenOptions::Output::json;
  if (line.has("--raw")) wanted.screen.output = ScreenOptions::Output::raw;
  using Operation = config::ProbeOperation;
  const auto op = line.value(
      "--op",
      config::one_of<Operation>(
          "OP", {{"write", Operation::write}, {"read", Operation::read}, {"echo", Operation::echo}}),
      Operation::write);
  if (!op) return tl::unexpected(op.error());
  if (line.has("--op")) probe.operations = {*op};
  const auto interval = line.value("--interval", config::duration(10ms, 1h), probe.interval);
  if (!interval) return tl::unexpected(interval.error());
  probe.interval = probe.echo_interval = *interval;
  const auto flows = line.value("--flows", config::number(1, 64), probe.flows);
  if (!flows) return tl::unexpected(flows.error());
  probe.flows = *flows;
  using Connect = config::ProbeConnect;
  const auto connect = line.value(
      "--connect",
      config::one_of<Connect>(
          "WAY", {{"auto", Connect::automatic}, {"verbs", Connect::verbs}, {"rdma_cm", Connect::rdma_cm}}),
      probe.connect);
  if (!connect) return tl::unexpected(connect.error());
  probe.connect = *connect;
  const auto count = line.value("--count", config::number(1, 1'000'000), 0U);
  if (!count) return tl::unexpected(count.error());
  wanted.screen.count = std::uint64_t{*count} * *flows;
  return {};
}

core::Result<Wanted> wanted(const config::CommandLine& line) {
  Wanted wanted;
  config::ProbeConfig probe = line.config.probe;
  probe.responder = false;
  probe.targets.clear();
  for (const std::string& text : line.arguments) {
    auto target = config::parse_probe_target(text);
    if (!target) return core::config_error(text + ": " + target.error().context);
    probe.targets.push_back(std::move(*target));
  }
  if (const auto taken = take_flags(line, probe, wanted); !taken) return tl::unexpected(taken.error());
  auto options = app::probe_options(probe);
  if (!options) return tl::unexpected(options.error());
  if (const auto checked = probe::Agent::check(*options); !checked) return tl::unexpected(checked.error());
  wanted.options = std::move(*options);
  wanted.screen.one_sided = wanted.options.session.one_sided();
  wanted.screen.echo = wanted.options.session.has(probe::Op::echo);
  return wanted;
}

core::Result<int> probe(const config::CommandLine& line) {
  auto parsed = wanted(line);
  if (!parsed) return tl::unexpected(parsed.error());
  probe::AgentOptions options = parsed->options;
  asio::io_context io(1);
  const auto screen = std::make_shared<ProbeScreen>(io, parsed->screen);
  options.observer = screen;
  asio::signal_set signals(io, SIGINT, SIGTERM, SIGQUIT);
  std::function<void()> wait = [&] {
    signals.async_wait([&](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal != SIGQUIT) return io.stop();
      screen->show_summary();
      wait();
    });
  };
  wait();
  probe::Agent agent;
  if (const auto started = agent.configure(options); !started) return tl::unexpected(started.error());
  io.run();
  const int status = screen->finish();
  if (!agent.stop(std::chrono::steady_clock::now() + kGraceForThreads)) app::exit_now(status);
  return status;
}

}  // namespace

extern const app::Command probe_command;
const app::Command probe_command{
    {.name = "probe",
     .arguments = "TARGET...",
     .at_least = 1,
     .at_most = 1000,
     .summary = "Measure the latency of RC verbs to peers, and show each result.",
     .description = kDescription,
     .flags = kFlags},
    probe};

}  // namespace rdma_exporter::commands
