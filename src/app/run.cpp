// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "app/commands.h"
#include "app/daemon.h"
#include "app/describe.h"
#include "app/exporter.h"
#include "app/open_file_limit.h"
#include "app/probe_options.h"
#include "app/program.h"
#include "app/setup_log.h"
#include "app/signals.h"
#include "app/version.h"
#include "asio/asio.h"
#include "config/bash_completion.h"
#include "config/file.h"
#include "config/man_page.h"
#include "config/message.h"
#include "config/parse.h"
#include "config/print.h"
#include "log/log.h"
#include "net/policy_loader.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kGraceForWorkers = 300ms;

core::Result<void> check_textfile(const std::string& path) {
  if (path.empty()) return {};
  if (!path.ends_with(".prom"))
    return core::config_error("--textfile: " + config::in_quotes(path) +
                              " does not end in .prom, and so the textfile collector does not read it");
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return tl::unexpected(core::Error{core::Errc::config, error ? error.value() : ENOTDIR,
                                    "--textfile: " + folder.string() + " is not a directory"});
}

core::Result<void> check_listen_addresses(const std::vector<std::string>& addresses) {
  for (auto it = addresses.begin(); it != addresses.end(); ++it)
    // With port 0 the kernel chooses another one for each.
    if (!it->ends_with(":0") && std::find(addresses.begin(), it, *it) != it)
      return core::config_error("--web.listen-address: " + config::in_quotes(*it) + " is there twice");
  return {};
}

// What reading single values cannot know: whether they fit each other, and whether files and directories that
// they name are there and good.
core::Result<void> check(const config::Config& config) {
  if (auto checked = check_host(config); !checked) return checked;
  if (auto checked = check_textfile(config.textfile); !checked) return checked;
  if (auto checked = check_listen_addresses(config.web.listen_addresses); !checked) return checked;
  const auto probing = probe_options(config.probe);
  if (!probing) return tl::unexpected(probing.error());
  if (auto checked = probe::Agent::check(*probing); !checked) return checked;
  if (config.web.config_file.empty()) return {};
  const auto policy = net::load_policy(config.web.config_file).policy;
  if (!policy) return config::error_at("--web.config.file", policy.error());
  return {};
}

int collect_once(const config::Config& config) {
  asio::io_context io(1);
  ProcessState state;
  const unsigned kept_files = raise_open_file_limit(config.limits.kept_files, config.web.max_connections);
  const auto exporter = Exporter::make(config, kept_files, io, Purpose::once, state);
  int status = kCannotServe;
  exporter->metrics({}, std::chrono::steady_clock::now() + config.scrape.timeout,
                    [&](const core::Result<net::MetricsSource::Page>& page) {
                      status = print((*page)->body);
                      io.stop();
                    });
  io.run();
  if (!exporter->stop(std::chrono::steady_clock::now() + kGraceForWorkers)) exit_now(status);
  return status;
}

int serve(const config::Config& config, Daemon::LoadConfig load) {
  log::info("starting rdma_exporter",
            {{"version", std::string(kVersion)}, {"revision", std::string(kRevision)}});
  asio::io_context io(1);
  Daemon daemon(io, config, std::move(load));
  int status = 0;
  if (const auto started = daemon.start(); started) {
    io.run();
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

// Flags and file, and what only the host can tell of them.
core::Result<config::Parsed> load(std::span<const char* const> arguments,
                                  std::span<const config::CollectorChoice> choices) {
  auto parsed = config::parse(arguments, choices);
  if (!parsed) return parsed;
  if (const auto checked = check(parsed->config); !checked) return tl::unexpected(checked.error());
  return parsed;
}

int start(std::span<const char* const> arguments, std::span<const config::CollectorChoice> choices) {
  const auto parsed = load(arguments, choices);
  if (!parsed) return refuse(parsed.error());
  setup_log(parsed->config.log);
  if (parsed->action == config::Action::once) return collect_once(parsed->config);
  // On a thread for each reload, of which a late one may meet the next.
  auto was_empty = std::make_shared<std::atomic<bool>>(parsed->file_is_empty);
  return serve(parsed->config, [arguments, choices, was_empty]() -> core::Result<config::Config> {
    auto again = load(arguments, choices);
    if (!again) return tl::unexpected(std::move(again.error()));
    // An editor or a disk that is full leaves such a file; it would put every default in force.
    if (again->file_is_empty && !*was_empty)
      return core::config_error(
          "--config.file: the file is empty, and it was not before: a restart takes it");
    *was_empty = again->file_is_empty;
    return std::move(again->config);
  });
}

}  // namespace

int run(std::span<const char* const> arguments) {
  if (const std::string_view word = config::command_word(arguments); !word.empty()) {
    let_hangup_through();
    return run_command(word, arguments);
  }
  const std::vector<config::CollectorChoice> choices = collector_choices();
  const auto parsed = config::parse(arguments, choices);
  if (!parsed) return refuse(parsed.error());
  if (parsed->action != config::Action::serve) let_hangup_through();
  switch (parsed->action) {
    case config::Action::help:
      return print(config::help_text(choices, command_syntaxes()));
    case config::Action::version:
      return print(fmt::format("rdma_exporter {} (revision {})\n", kVersion, kRevision));
    case config::Action::describe_markdown:
      return print(describe_markdown());
    case config::Action::describe_json:
      return print(describe_json());
    case config::Action::describe_man:
      return print(config::man_page(choices, command_syntaxes(), kVersion));
    case config::Action::describe_bash_completion:
      return print(config::bash_completion(choices, command_syntaxes()));
    case config::Action::print_config:
      return print(config::print(parsed->config));
    case config::Action::check_config:
      if (const auto checked = check(parsed->config); !checked) return refuse(checked.error());
      return print("configuration is valid\n");
    case config::Action::once:
    case config::Action::serve:
      return start(arguments, choices);
  }
  return kBadConfiguration;
}

}  // namespace rdma_exporter::app
