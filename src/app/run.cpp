// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/run.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "app/command.h"
#include "app/daemon.h"
#include "app/exporter.h"
#include "app/metrics/describe.h"
#include "app/setup/setup.h"
#include "app/system/process.h"
#include "app/version.h"
#include "asio/asio.h"
#include "asio/ssl.h"
#include "config/flags/help.h"
#include "config/parse.h"
#include "config/print.h"
#include "log/caught.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kGraceForWorkers = 300ms;

int collect_once(const Setup& setup) {
  const config::Config& config = setup.config;
  asio::io_context io(1);
  ProcessState state{.probe = probe::Agent({})};  // which nothing configures
  const OpenFiles files = raise_open_file_limit({config.limits.kept_files, config.web.max_connections});
  const auto exporter = Exporter::make(config, setup.replay, files.kept_files, io, Purpose::once, state);
  int status = kCannotServe;
  exporter->metrics({}, std::chrono::steady_clock::now() + config.scrape.timeout,
                    [&](const core::Result<web::MetricsSource::Page>& page) {
                      if (*page) status = print((*page)->body);
                      io.stop();
                    });
  io.run();
  if (!exporter->stop(std::chrono::steady_clock::now() + kGraceForWorkers)) exit_now(status);
  return status;
}

// What finds no memory costs the connection or the scrape that wanted it; each bears its own loss where it
// can, and the event loop goes on for the others.
void run_on(asio::io_context& io) {
  for (;;) {
    try {
      io.run();
      return;
    } catch (const std::bad_alloc& error) {
      log::caught("out of memory", error);
    }
  }
}

int serve(const Setup& setup, Daemon::Load load) {
  log::info("starting rdma_exporter",
            {{"version", std::string(kVersion)}, {"revision", std::string(kRevision)}});
  asio::io_context io(1);
  Daemon daemon(io, setup, std::move(load));
  int status = 0;
  if (const auto started = daemon.start(); started) {
    run_on(io);
  } else {
    log::error(core::to_string(started.error()));
    status = kCannotServe;
  }
  log::info("stopped");
  const bool ended = daemon.finish(std::chrono::steady_clock::now() + kGraceForWorkers);
  if (!daemon.served()) status = kCannotServe;
  if (!ended) exit_now(status);
  return status;
}

int check_config(const config::Config& config) {
  const auto warnings = check(config);
  if (!warnings) return refuse(warnings.error());
  for (const std::string& warning : *warnings) fmt::print(stderr, "rdma_exporter: warning: {}\n", warning);
  return print("configuration is valid\n");
}

int start(std::span<const char* const> arguments, const std::vector<config::CollectorChoice>& choices,
          config::Parsed parsed) {
  const Purpose purpose = parsed.action == config::Action::once ? Purpose::once : Purpose::serve;
  setup_log(parsed.config.log);
  // On a thread for each reload, of which a late one may meet the next.
  auto was_empty = std::make_shared<std::atomic<bool>>(parsed.file_is_empty);
  const auto setup = set_up(std::move(parsed.config), purpose);
  if (!setup) return refuse(setup.error());
  if (purpose == Purpose::once) return collect_once(*setup);
  return serve(*setup, [arguments, choices, was_empty]() -> core::Result<Setup> {
    auto again = config::parse(arguments, choices);
    if (!again) return tl::unexpected(std::move(again.error()));
    // An editor or a disk that is full leaves such a file; it would put every default in force.
    if (again->file_is_empty && !*was_empty)
      return core::config_error(
          "--config.file: the file is empty but was not before; restart the exporter to apply it");
    auto next = set_up(std::move(again->config), Purpose::serve);
    if (next) *was_empty = again->file_is_empty;
    return next;
  });
}

}  // namespace

int run(std::span<const char* const> arguments, Commands commands) {
  let_threads_outlive_main();
  if (const std::string_view word = config::command_word(arguments); !word.empty()) {
    let_hangup_through();
    return run_command(commands, word, arguments);
  }
  const std::vector<config::CollectorChoice> choices = collector_choices();
  auto parsed = config::parse(arguments, choices);
  if (!parsed) return refuse(parsed.error());
  if (parsed->action != config::Action::serve) let_hangup_through();
  switch (parsed->action) {
    case config::Action::help:
      return print(config::help_text(choices, syntaxes_of(commands)));
    case config::Action::version:
      return print(
          fmt::format("rdma_exporter {} (revision {})\n  build:     {}\n  linking:   {}\n  libraries: {}\n",
                      kVersion, kRevision, kBuild, kLinking, kLibraries));
    case config::Action::describe_markdown:
      return print(describe_markdown());
    case config::Action::describe_json:
      return print(describe_json());
    case config::Action::describe_man:
      return print(config::man_page(choices, syntaxes_of(commands), kVersion));
    case config::Action::describe_bash_completion:
      return print(config::bash_completion(choices, syntaxes_of(commands)));
    case config::Action::print_config:
      return print(config::print(parsed->config));
    case config::Action::check_config:
      return check_config(parsed->config);
    case config::Action::once:
    case config::Action::serve:
      return start(arguments, choices, std::move(*parsed));
  }
  return kBadConfiguration;
}

}  // namespace rdma_exporter::app
