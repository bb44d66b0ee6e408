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
#include "app/setup/probe_options.h"
#include "asio/asio.h"
#include "commands/probe/keygen.h"
#include "commands/probe/screen.h"
#include "config/flags/value_type.h"
#include "config/probe_target.h"
#include "probe/agent/agent.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;

constexpr auto kGraceForThreads = 2s;

constexpr std::array kFlags{
    config::CommandFlag{"--op", "OP",
                        "Operation to measure: write, read or echo (default: --probe.operations)."},
    config::CommandFlag{"--count", "NUMBER",
                        "Stop after this many operations of each kind (default: at Ctrl-C)."},
    config::CommandFlag{
        "--interval", "DURATION",
        "Time between two operations of the same kind, 10ms to 1h (default: --probe.interval)."},
    config::CommandFlag{"--flows", "NUMBER", "Number of connections to each target, each over its own path."},
    config::CommandFlag{"--connect", "WAY",
                        "How to connect queue pairs: auto, verbs or rdma_cm (default: --probe.connect)."},
    config::CommandFlag{
        "--mesh", "",
        "Probe the peers of this host in --probe.mesh, five times each or --count, and print a verdict."},
    config::CommandFlag{"--json", "", "Print only one JSON document, at the end."},
    config::CommandFlag{"--raw", "", "Print only the samples, with fields separated by tabs."},
};

constexpr std::string_view kDescription =
    "Measures the latency of RC verbs to targets that answer probes: daemons with --probe.responder, "
    "or\n`rdma_exporter responder`. A target is HOST[:PORT] with attributes, as in probe.targets: "
    "docs/PROBE_SETUP.md.\nAll --probe flags apply here too, in particular those for certificates or the "
    "secret. "
    "Ctrl-C stops it, Ctrl-\\ prints\nthe results so far. The exit status is 1 if no operation to one of the "
    "targets succeeded.\nWith --mesh: shows which peers this host reaches in its mesh, and what the failures "
    "have in common.\nkeygen: writes a new secret for the peers of a mesh to FILE with mode 0400; never "
    "overwrites an existing file.";

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
  wanted.screen.count = *count;
  return {};
}

// Enough to tell a working path from a failing one.
constexpr unsigned kMeshCount = 5;
constexpr auto kMeshInterval = 100ms;

core::Result<void> take_mesh(const config::CommandLine& line, config::ProbeConfig& probe, Wanted& wanted) {
  const bool mesh = line.has("--mesh");
  if (mesh == !line.arguments.empty())
    return core::config_error(
        mesh ? "--mesh: takes no targets, they come from its list"
             : "probe: an argument is missing (usage: rdma_exporter probe TARGET...; see "
               "--help)");
  if (!mesh) probe.mesh.clear();
  if (mesh && probe.mesh.empty())
    return core::config_error(
        "--mesh: no list is given; use --probe.mesh, or --config.file with the file of the daemon");
  wanted.screen.mesh = mesh;
  if (!mesh) return {};
  probe.discovery.files.clear();
  probe.discovery.names.clear();
  probe.discovery.urls.clear();
  probe.hostmesh = false;
  if (!line.has("--count")) wanted.screen.count = kMeshCount;
  if (!line.has("--interval")) probe.interval = probe.echo_interval = kMeshInterval;
  return {};
}

core::Result<Wanted> wanted(const config::CommandLine& line) {
  Wanted wanted;
  config::ProbeConfig probe = line.config.probe;
  probe.responder = false;
  probe.targets.clear();
  for (const std::string& text : line.arguments) {
    auto target = config::parse_probe_target(text);
    if (!target) return core::config_error(text + ": " + target.error().context.text());
    probe.targets.push_back(std::move(*target));
  }
  if (const auto taken = take_flags(line, probe, wanted); !taken) return tl::unexpected(taken.error());
  if (const auto taken = take_mesh(line, probe, wanted); !taken) return tl::unexpected(taken.error());
  auto options = app::probe_options(probe);
  if (!options) return tl::unexpected(options.error());
  options->responder = {};  // it belongs to the daemon, which may run at the same time
  if (const auto checked = probe::Agent::check(*options); !checked) return tl::unexpected(checked.error());
  wanted.options = std::move(*options);
  wanted.screen.one_sided = wanted.options.session.one_sided();
  wanted.screen.echo = wanted.options.session.has(probe::Op::echo);
  return wanted;
}

// `probe keygen [FILE]`.
core::Result<int> keygen(const config::CommandLine& line) {
  const std::string path = line.arguments.size() > 1 ? line.arguments[1] : line.config.probe.secret_file;
  if (line.arguments.size() > 2 || path.empty())
    return core::config_error("probe keygen: takes one file (usage: rdma_exporter probe keygen FILE)");
  const auto name = make_key(path);
  if (!name) return tl::unexpected(name.error());
  return app::print("wrote " + *name + " to " + path + "\n");
}

core::Result<int> probe(const config::CommandLine& line) {
  if (!line.arguments.empty() && line.arguments[0] == "keygen") return keygen(line);
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
  probe::Agent agent(app::preset_class(line.config.path.sysfs));
  if (const auto started = agent.configure(options); !started) return tl::unexpected(started.error());
  io.run();
  const int status = screen->finish();
  if (!agent.stop(std::chrono::steady_clock::now() + kGraceForThreads)) app::exit_now(status);
  return status;
}

}  // namespace

extern const app::Command probe_command;
const app::Command probe_command{{.name = "probe",
                                  .arguments = "TARGET...|keygen FILE",
                                  .at_most = 1000,
                                  .summary = "Measure the latency of RC verbs to peers and show each result.",
                                  .description = kDescription,
                                  .flags = kFlags},
                                 probe};

}  // namespace rdma_exporter::commands
