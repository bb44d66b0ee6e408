// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The command fleet: all its knowledge comes from the API of a Prometheus-compatible server.
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sysexits.h>

#include <array>
#include <charconv>
#include <ctime>

#include "app/command.h"
#include "commands/prometheus_api.h"
#include "config/flags/value_type.h"
#include "config/yaml/file.h"
#include "fleet/analysis.h"
#include "fleet/recorded.h"
#include "fleet/render.h"
#include "task/pool.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;

enum class Format : unsigned char { text, json, html };

constexpr std::array kFlags{
    config::CommandFlag{"--prometheus.url", "URL",
                        "Server to query: Prometheus, Thanos, Mimir or VictoriaMetrics."},
    config::CommandFlag{
        "--http.config.file", "FILE",
        "File with HTTP client settings: basic_auth, authorization, tls_config, http_headers."},
    config::CommandFlag{"--at", "TIME",
                        "Evaluation time in RFC 3339 or seconds since 1970 (default: one minute ago)."},
    config::CommandFlag{
        "--window", "DURATION",
        "Time window for rates (default: 10m). Recording rules are used with the default only."},
    config::CommandFlag{"--selector", "MATCHERS", "Label matchers that select the series: 'cluster=\"a\"'."},
    config::CommandFlag{
        "--unit-label", "LABEL",
        "Label of scrape targets that is the same for hosts on the same leaves (default su)."},
    config::CommandFlag{"--timeout", "DURATION", "Time limit for all queries together (default 60s)."},
    config::CommandFlag{"--format", "FORMAT", "Output format: text (default), json or html."},
    config::CommandFlag{
        "--rules", "",
        "Print recording rules that let a server with many hosts answer within seconds, for this "
        "selector and unit label, and exit."},
};

struct Wanted {
  std::string url;
  config::HttpClient client;
  fleet::Options options;
  std::time_t at = 0;
  std::chrono::milliseconds timeout{0};
  Format format = Format::text;
};

// "2025-11-03T14:00:00Z" or "1762178400".
core::Result<std::time_t> time_of(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0) return std::time_t{seconds};
  std::tm utc{};
  const std::string copy(text);
  const char* rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (rest == nullptr || *rest != '\0')
    return core::config_error("--at: is not a valid time (use 2025-11-03T14:00:00Z or seconds since 1970)");
  return ::timegm(&utc);
}

// Late enough that all exporters have been scraped; repeated calls within 15 s give the same time.
std::time_t a_minute_ago() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return (now - 60) / 15 * 15;
}

core::Result<config::HttpClient> client_of(const std::string& file) {
  if (file.empty()) return config::HttpClient{};
  const auto text = config::read_file(file);
  if (!text) return core::config_error("--http.config.file: " + core::to_string(text.error()));
  return config::parse_http_client(*text, file);
}

bool label_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string_view::npos;
}

core::Result<std::string> text_of(const config::CommandLine& line, std::string_view flag,
                                  std::string otherwise) {
  return line.value(flag, config::filled_text("TEXT", "use a non-empty text"), std::move(otherwise));
}

core::Result<fleet::Options> options_of(const config::CommandLine& line) {
  fleet::Options options;
  const auto selector = text_of(line, "--selector", "");
  if (!selector) return tl::unexpected(selector.error());
  if (selector->find_first_of("{}") != std::string::npos)
    return core::config_error("--selector: contains braces (write only the matchers: cluster=\"a\")");
  options.selector = *selector;
  const auto unit = text_of(line, "--unit-label", options.unit_label);
  if (!unit) return tl::unexpected(unit.error());
  if (!label_name(*unit)) return core::config_error("--unit-label: is not a valid label name");
  options.unit_label = *unit;
  const auto window = line.value("--window", config::whole_seconds(60s, 24h), 0s);
  if (!window) return tl::unexpected(window.error());
  options.window = *window;
  if (window->count() != 0 && line.has("--rules"))
    return core::config_error("--rules: cannot be used with --window (rules have the default window)");
  return options;
}

core::Result<Wanted> wanted_of(const config::CommandLine& line) {
  Wanted wanted;
  const auto url = text_of(line, "--prometheus.url", "");
  if (!url) return tl::unexpected(url.error());
  if (url->empty() && !line.has("--rules"))
    return core::config_error("--prometheus.url: is missing (use a URL such as http://prometheus:9090)");
  wanted.url = *url;
  const auto file = text_of(line, "--http.config.file", "");
  if (!file) return tl::unexpected(file.error());
  auto client = client_of(*file);
  if (!client) return tl::unexpected(std::move(client.error()));
  wanted.client = std::move(*client);
  const auto at = text_of(line, "--at", std::to_string(a_minute_ago())).and_then(time_of);
  if (!at) return tl::unexpected(at.error());
  wanted.at = *at;
  const auto options = options_of(line);
  if (!options) return tl::unexpected(options.error());
  wanted.options = *options;
  const auto timeout =
      line.value("--timeout", config::duration(100ms, 10min), std::chrono::milliseconds(60s));
  if (!timeout) return tl::unexpected(timeout.error());
  wanted.timeout = *timeout;
  const auto format =
      line.value("--format",
                 config::one_of<Format>(
                     "FORMAT", {{"text", Format::text}, {"json", Format::json}, {"html", Format::html}}),
                 Format::text);
  if (!format) return tl::unexpected(format.error());
  wanted.format = *format;
  return wanted;
}

std::string rendered(const Wanted& wanted, const fleet::Analysis& analysis) {
  constexpr long kDefaultWindow = 600;
  const long window = wanted.options.window.count();
  const fleet::Question question{wanted.url, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(wanted.at)),
                                 window > 0 ? window : kDefaultWindow};
  switch (wanted.format) {
    case Format::json:
      return fleet::to_json(question, analysis);
    case Format::html:
      return fleet::to_html(question, analysis);
    case Format::text:
      break;
  }
  return fleet::to_text(question, analysis);
}

// Reports why nothing can be said about the fleet.
int unusable(const Wanted& wanted, const fleet::Analysis& analysis) {
  std::string why = "has no RDMA data at that time (no rdma_devices; check --at and --selector)";
  for (const fleet::QueryReport& query : analysis.queries)
    if (!query.error.empty()) why = query.error;
  app::refuse(core::Error{core::Errc::config, 0, wanted.url + ": " + why});
  return EX_UNAVAILABLE;
}

core::Result<int> run(const config::CommandLine& line) {
  const auto wanted = wanted_of(line);
  if (!wanted) return tl::unexpected(wanted.error());
  if (line.has("--rules")) return app::print(fleet::to_rules(fleet::recordable(wanted->options)));
  const auto api = PrometheusApi::make(wanted->url, wanted->client);
  if (!api) return tl::unexpected(api.error());
  const Deadline deadline = std::chrono::steady_clock::now() + wanted->timeout;
  task::Pool background{task::kBackgroundPool};
  const fleet::Analysis analysis =
      fleet::analyse(wanted->options, [&](const std::vector<fleet::Query>& queries) {
        return api->ask(queries, wanted->at, deadline, background);
      });
  int status = EX_UNAVAILABLE;
  if (analysis.hosts_seen == 0)
    status = unusable(*wanted, analysis);
  else
    status = app::print(rendered(*wanted, analysis)) == 0 ? fleet::exit_status(analysis) : EX_IOERR;
  if (!background.stop(std::chrono::steady_clock::now() + 300ms)) app::exit_now(status);
  return status;
}

}  // namespace

extern const app::Command fleet_command;
const app::Command fleet_command{
    {.name = "fleet",
     .summary = "Find what is wrong in a whole fabric from the data that Prometheus has stored.",
     .description = "Queries a Prometheus-compatible server, not the hosts, and reports storms, failing "
                    "paths, rare settings and bad\nlinks. Exit status: 0 nothing found, 1 warning or not "
                    "everything could be analysed, 2 critical, 64 usage error,\n69 no usable answer, 74 "
                    "output error. docs/FLEET.md explains each finding.",
     .flags = kFlags},
    run,
    EX_USAGE};

}  // namespace rdma_exporter::commands
