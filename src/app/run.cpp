// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/run.h"

#include <fmt/core.h>
#include <malloc.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "app/describe.h"
#include "app/exporter.h"
#include "app/open_file_limit.h"
#include "app/textfile.h"
#include "app/version.h"
#include "asio/asio.h"
#include "collectors/collector.h"
#include "config/parse.h"
#include "config/print.h"
#include "log/log.h"
#include "net/policy_loader.h"
#include "net/routes.h"
#include "net/server.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

constexpr int kCannotServe = 1;
constexpr int kBadConfiguration = 2;
constexpr auto kGraceForResponses = 1000ms;
constexpr auto kGraceForWorkers = 300ms;

std::vector<config::CollectorChoice> collector_choices() {
  std::vector<config::CollectorChoice> choices;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors())
    choices.push_back({spec->name, spec->enabled_by_default, spec->help});
  return choices;
}

void setup_log(const config::LogConfig& settings) {
  log::setup(static_cast<log::Level>(settings.level), static_cast<log::Format>(settings.format));
}

// The exit status: what was asked for did not come out when standard output is full or closed.
int print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) fmt::print(stderr, "rdma_exporter: cannot write to standard output\n");
  return written ? 0 : kCannotServe;
}

// Ends the process while a worker may be inside the kernel: destructors would wait for it for ever.
[[noreturn]] void exit_now(int status) {
  std::fflush(nullptr);
  std::_Exit(status);
}

int finish(Exporter& exporter, int status) {
  if (!exporter.stop(std::chrono::steady_clock::now() + kGraceForWorkers)) exit_now(status);
  return status;
}

int collect_once(Exporter& exporter, asio::io_context& io, std::chrono::milliseconds timeout) {
  int status = kCannotServe;
  exporter.metrics({}, std::chrono::steady_clock::now() + timeout,
                   [&](const core::Result<net::MetricsSource::Page>& page) {
                     status = print((*page)->body);
                     io.stop();
                   });
  io.run();
  return finish(exporter, status);
}

// Waits for signals, then for responses in flight, then stops the loop.
class Shutdown {
 public:
  Shutdown(asio::io_context& io, net::Server& server, Exporter& exporter)
      : io_(io), server_(server), exporter_(exporter), signals_(io, SIGTERM, SIGINT), timer_(io) {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (!error) begin(signal);
    });
  }

 private:
  void begin(int signal) {
    log::info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    exporter_.set_ready(false);
    server_.stop();
    until_ = std::chrono::steady_clock::now() + kGraceForResponses;
    wait();
  }

  void wait() {
    if (server_.open_connections() == 0 || std::chrono::steady_clock::now() >= until_) return io_.stop();
    timer_.expires_after(10ms);
    timer_.async_wait([this](const boost::system::error_code&) { wait(); });
  }

  asio::io_context& io_;
  net::Server& server_;
  Exporter& exporter_;
  asio::signal_set signals_;
  asio::steady_timer timer_;
  std::chrono::steady_clock::time_point until_;
};

int serve(const config::Config& config, Exporter& exporter, asio::io_context& io) {
  net::Routes routes(exporter, config.web.telemetry_path,
                     {config.scrape.timeout, config.scrape.timeout_offset});
  net::ServerOptions options;
  options.listen_addresses = config.web.listen_addresses;
  options.systemd_sockets = config.web.systemd_socket;
  options.web_config_file = config.web.config_file;
  options.max_connections = config.web.max_connections;
  options.max_requests = config.web.max_requests_per_connection;
  options.read_timeout = config.web.read_timeout;
  options.write_timeout = config.web.write_timeout;
  options.idle_timeout = config.web.idle_timeout;
  options.max_header_bytes = config.web.max_header_bytes;
  net::Server server(io, options, routes, exporter.http_counters());
  if (const auto loaded = server.load_web_config(); !loaded) {
    log::error(core::to_string(loaded.error()));
    return kBadConfiguration;
  }
  if (const auto listening = server.listen(); !listening) {
    log::error(core::to_string(listening.error()));
    return kCannotServe;
  }
  for (const std::string& address : server.bound_addresses())
    log::info("listening", {{"address", address},
                            {"path", config.web.telemetry_path},
                            {"tls", server.has_tls() ? "true" : "false"},
                            {"passwords", server.has_passwords() ? "true" : "false"}});
  Shutdown shutdown(io, server, exporter);
  exporter.set_ready(true);
  // The first collection opens what later ones read, and fills the landing page.
  exporter.metrics({}, std::chrono::steady_clock::now() + config.scrape.timeout, [&exporter](const auto&) {
    ::malloc_trim(0);  // start-up needed more than what follows
    log::info("first collection done", {{"devices", std::to_string(exporter.device_names().size())}});
  });
  io.run();
  return finish(exporter, 0);
}

int write_textfile(const config::Config& config, Exporter& exporter, asio::io_context& io) {
  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&io](const boost::system::error_code&, int) { io.stop(); });
  Textfile textfile(io, exporter, config);
  textfile.start();
  io.run();
  return finish(exporter, textfile.end() ? 0 : kCannotServe);
}

// What reading the configuration cannot know: whether files and directories that it names are there and good.
core::Result<void> check(const config::Config& config) {
  if (auto checked = Exporter::check(config); !checked) return checked;
  if (config.web.config_file.empty()) return {};
  const auto policy = net::load_policy(config.web.config_file).policy;
  if (!policy) return core::config_error("--web.config.file: " + policy.error().context);
  return {};
}

int refuse(const core::Error& error) {
  fmt::print(stderr, "rdma_exporter: {}\n", core::to_string(error));
  return kBadConfiguration;
}

int start(const config::Config& config, bool once) {
  if (const auto checked = Exporter::check(config); !checked) return refuse(checked.error());
  setup_log(config.log);
  const unsigned kept_files = raise_open_file_limit(config.limits.kept_files, config.web.max_connections);
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context io(1);
  const auto exporter = Exporter::make(config, kept_files, io, once ? Purpose::once : Purpose::serve);
  if (once) return collect_once(*exporter, io, config.scrape.timeout);
  log::info("starting rdma_exporter",
            {{"version", std::string(kVersion)}, {"revision", std::string(kRevision)}});
  const int status =
      config.textfile.empty() ? serve(config, *exporter, io) : write_textfile(config, *exporter, io);
  log::info("stopped");
  return status;
}

}  // namespace

int run(std::span<const char* const> arguments) {
  const std::vector<config::CollectorChoice> choices = collector_choices();
  const auto parsed = config::parse(arguments, choices);
  if (!parsed) return refuse(parsed.error());
  switch (parsed->action) {
    case config::Action::help:
      return print(config::help_text(choices));
    case config::Action::version:
      return print(fmt::format("rdma_exporter {} (revision {})\n", kVersion, kRevision));
    case config::Action::describe_markdown:
      return print(describe_markdown());
    case config::Action::describe_json:
      return print(describe_json());
    case config::Action::print_config:
      return print(config::print(parsed->config));
    case config::Action::check_config:
      if (const auto checked = check(parsed->config); !checked) return refuse(checked.error());
      return print("configuration is valid\n");
    case config::Action::once:
      return start(parsed->config, true);
    case config::Action::serve:
      return start(parsed->config, false);
  }
  return kBadConfiguration;
}

}  // namespace rdma_exporter::app
