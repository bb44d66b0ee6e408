// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// rdma_exporter responder: answers probes, and does nothing else.
#include <chrono>
#include <csignal>

#include "app/command.h"
#include "app/setup/probe_options.h"
#include "asio/asio.h"
#include "probe/agent/agent.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;

constexpr auto kGraceForThreads = 2s;

core::Result<int> responder(const config::CommandLine& line) {
  config::ProbeConfig config = line.config.probe;
  config.responder = true;
  config.targets.clear();
  config.mesh.clear();
  const auto options = app::probe_options(config);
  if (!options) return tl::unexpected(options.error());
  if (const auto checked = probe::Agent::check(*options); !checked) return tl::unexpected(checked.error());
  asio::io_context io(1);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& /*error*/, int /*signal*/) { io.stop(); });
  probe::Agent agent({});  // answers with the class of its peers
  if (const auto started = agent.configure(*options); !started) return tl::unexpected(started.error());
  io.run();
  if (!agent.stop(std::chrono::steady_clock::now() + kGraceForThreads)) app::exit_now(0);
  return 0;
}

}  // namespace

extern const app::Command responder_command;
const app::Command responder_command{{.name = "responder",
                                      .summary = "Answer probes from peers without serving metrics.",
                                      .description = "Runs until Ctrl-C. The --probe flags determine where "
                                                     "and to whom it answers; see docs/PROBE_SETUP.md."},
                                     responder};

}  // namespace rdma_exporter::commands
