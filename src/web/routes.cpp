// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/routes.h"

#include <optional>
#include <utility>

#include "web/scrape_request.h"

namespace rdma_exporter::web {

MetricsSource::~MetricsSource() = default;

namespace {

constexpr std::string_view kHtmlType = "text/html; charset=utf-8";
constexpr std::string_view kAllow = "Allow: GET, HEAD\r\n";
constexpr std::string_view kAllowPost = "Allow: POST\r\n";
// The pages show names that come from the host, so the browser is told to run and load nothing. What they
// show is of this moment.
constexpr std::string_view kHtmlHeaders =
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cache-Control: no-store\r\n";
constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kJsonHeaders =
    "X-Content-Type-Options: nosniff\r\n"
    "Cache-Control: no-store\r\n";
constexpr std::string_view kReportHeaders =
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Cache-Control: no-store\r\n"
    "Content-Disposition: attachment; filename=\"rdma-report.html\"\r\n";

http::Response method_not_allowed(std::string_view allow) {
  http::Response response = http::text_response(405, "method not allowed\n");
  response.extra_headers = allow;
  return response;
}

http::Response host_response(const MetricsSource::Page& page, MetricsSource::HostPage kind) {
  if (!page) return http::no_memory();
  http::Response response;
  if (kind == MetricsSource::HostPage::probe) {
    response.content_type = kJsonType;
    response.body = std::shared_ptr<const std::string>(page, &page->body);
    response.extra_headers = kJsonHeaders;
    return response;
  }
  response.content_type = kHtmlType;
  response.body = std::shared_ptr<const std::string>(page, &page->body);
  response.extra_headers = kind == MetricsSource::HostPage::report ? kReportHeaders : kHtmlHeaders;
  return response;
}

using HostPage = MetricsSource::HostPage;

std::optional<HostPage> host_page_of(std::string_view path) {
  if (path == "/") return HostPage::view;
  if (path == "/report") return HostPage::report;
  if (path == "/probe") return HostPage::probe;
  return std::nullopt;
}

constexpr std::string_view kVary = "Vary: Accept, Accept-Encoding\r\n";
constexpr std::string_view kVaryAndGzip =
    "Vary: Accept, Accept-Encoding\r\n"
    "Content-Encoding: gzip\r\n";

// The one that needs memory itself, that for a person whose filter is wrong, is made while the request is
// handled.
http::Response metrics_response(const core::Result<MetricsSource::Page>& page) {
  if (!page) return http::text_response(400, core::to_string(page.error()) + "\n");
  if (!*page) return http::no_memory();
  http::Response response;
  response.content_type = content_type((*page)->format);
  response.body = std::shared_ptr<const std::string>(*page, &(*page)->body);
  response.extra_headers = (*page)->gzip ? kVaryAndGzip : kVary;
  return response;
}

}  // namespace

void Routes::handle(const http::Request& request, Answer answer) {
  const std::string_view path = request.path();
  const bool metrics_path = path == options_.telemetry_path;
  const auto host_page_kind = host_page_of(path);
  const bool page = host_page_kind || path == "/-/healthy" || path == "/-/ready";
  if (path == "/-/reload" && !metrics_path) return reload(request, std::move(answer));
  if (!metrics_path && !page)
    return answer(
        http::text_response(404, "not found; the metrics are at " + options_.telemetry_path + "\n"));
  if (request.method != http::Method::get && request.method != http::Method::head)
    return answer(method_not_allowed(kAllow));
  if (metrics_path) return metrics(request, std::move(answer));
  if (host_page_kind) return host_page(*host_page_kind, std::move(answer));
  if (path == "/-/healthy") return answer(http::text_response(200, "healthy\n"));
  answer(source_.ready() ? http::text_response(200, "ready\n") : http::text_response(503, "not ready\n"));
}

std::size_t Routes::missing_room(const http::Request& request) const {
  const std::string_view path = request.path();
  return path == options_.telemetry_path || host_page_of(path) ? source_.missing_room() : 0;
}

void Routes::host_page(MetricsSource::HostPage kind, Answer answer) {
  source_.host_page(kind, [kind, answer = std::move(answer)](const MetricsSource::Page& page) {
    answer(host_response(page, kind));
  });
}

void Routes::reload(const http::Request& request, Answer answer) {
  if (request.method != http::Method::post) return answer(method_not_allowed(kAllowPost));
  if (!options_.lifecycle)
    return answer(http::text_response(403, "reloading over HTTP is not enabled (--web.enable-lifecycle)\n"));
  source_.reload([answer = std::move(answer)](const core::Result<void>& result) {
    answer(result ? http::text_response(200, "configuration loaded\n")
                  : http::text_response(500, core::to_string(result.error()) + "\n"));
  });
}

void Routes::metrics(const http::Request& request, Answer answer) {
  auto filter = parse_filter(request.query());
  if (!filter) return answer(http::text_response(400, core::to_string(filter.error()) + "\n"));
  const auto deadline =
      std::chrono::steady_clock::now() + scrape_time(options_.timeouts, request.scrape_timeout);
  source_.metrics(
      {preferred_format(request.accept), accepts_gzip(request.accept_encoding), std::move(*filter)}, deadline,
      [answer = std::move(answer)](const core::Result<MetricsSource::Page>& page) {
        answer(metrics_response(page));
      });
}

}  // namespace rdma_exporter::web
