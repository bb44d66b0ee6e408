// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/prometheus_api.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "config/yaml/file.h"
#include "fleet/prometheus_answer.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxBytes = 64U << 20U;  // of an answer
constexpr std::size_t kAtOnce = 4;             // a fifth of what Prometheus allows all its users together

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

core::Result<std::string> secret(const std::string& text, const std::string& file) {
  if (file.empty()) return text;
  auto content = config::read_file(file);
  if (!content) return tl::unexpected(std::move(content.error()));
  content->erase(content->find_last_not_of("\r\n") + 1);
  if (std::any_of(content->begin(), content->end(), [](char c) { return c < ' ' || c > '~'; }))
    return core::config_error(file +
                              ": has more than one line, or characters that are not allowed in a header");
  return content;
}

// The meaning of a status if the body is not an answer of the API.
std::string problem_of(const http::ClientAnswer& answer) {
  if (answer.status == 401 || answer.status == 403)
    return fmt::format("returned status {} (give credentials with --http.config.file)", answer.status);
  if (answer.content_type.find("json") == std::string::npos)
    return fmt::format("returned status {} and {} instead of JSON (is this the URL of the API?)",
                       answer.status,
                       answer.content_type.empty() ? "no content type" : answer.content_type.substr(0, 100));
  return fmt::format("returned status {}", answer.status);
}

}  // namespace

core::Result<PrometheusApi> PrometheusApi::make(const std::string& url, const config::HttpClient& client) {
  auto parsed = http::parse_url(url);
  if (!parsed) return core::config_error("--prometheus.url: " + parsed.error().context.text());
  PrometheusApi api;
  api.url_ = std::move(*parsed);
  while (api.url_.target.ends_with('/')) api.url_.target.pop_back();
  api.url_.target += "/api/v1/query";
  api.tls_ = {client.authority_file, client.certificate_file, client.key_file, client.server_name};
  api.headers_ = client.headers;
  if (!client.username.empty()) {
    const auto password = secret(client.password, client.password_file);
    if (!password) return tl::unexpected(password.error());
    api.headers_.emplace_back("Authorization", http::basic_authorization(client.username, *password));
  }
  const auto token = secret(client.credentials, client.credentials_file);
  if (!token) return tl::unexpected(token.error());
  if (!token->empty()) api.headers_.emplace_back("Authorization", client.credentials_type + " " + *token);
  api.headers_.emplace_back("Accept", "application/json");
  api.headers_.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  return api;
}

fleet::Answer PrometheusApi::ask_one(const fleet::Query& query, std::time_t at, Deadline deadline) const {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  fleet::Answer failed;
  failed.error = "no answer in time";
  if (left <= 0ms) return failed;
  http::ClientRequest request{"POST", headers_, {}, kMaxBytes};
  // A comment with the name of the table shows the purpose of the query in the server's query log.
  request.body =
      fmt::format("query={}&time={}&timeout={}ms&partial_response=false&nocache=1",
                  encoded(query.expression + " # rdma_exporter fleet: " + query.table), at, left.count());
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = http::ask(url_, tls_, request, left);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!answer) {
    failed.error = core::to_string(answer.error());
    return failed;
  }
  fleet::Answer parsed = fleet::parse_answer(answer->body, query.columns);
  if (answer->status != 200 &&
      (parsed.error.empty() || answer->content_type.find("json") == std::string::npos))
    parsed = {{}, problem_of(*answer), {}, 0, answer->body.size()};
  else if (!parsed.error.empty() && answer->content_type.find("json") == std::string::npos)
    parsed.error = problem_of(*answer);
  parsed.seconds = took.count();
  return parsed;
}

std::vector<fleet::Answer> PrometheusApi::ask(const std::vector<fleet::Query>& queries, std::time_t at,
                                              Deadline deadline, task::Background& background) const {
  using Part = std::vector<std::pair<std::size_t, fleet::Answer>>;
  struct Shared {
    PrometheusApi api;
    std::vector<fleet::Query> queries;
    std::atomic<std::size_t> next{0};
  };
  const auto shared = std::make_shared<Shared>();
  shared->api = *this;
  shared->queries = queries;
  std::vector<std::function<Part()>> tasks;
  for (std::size_t i = 0; i < std::min(kAtOnce, queries.size()); ++i)
    tasks.emplace_back([shared, at, deadline] {
      Part part;
      for (std::size_t n = shared->next++; n < shared->queries.size(); n = shared->next++)
        part.emplace_back(n, shared->api.ask_one(shared->queries[n], at, deadline));
      return part;
    });
  fleet::Answer late;
  late.error = "no answer in time";
  std::vector<fleet::Answer> answers(queries.size(), late);
  for (auto& part : run_until<Part>(background, std::move(tasks), deadline + 100ms)) {
    if (!part) continue;
    for (auto& [index, answer] : *part) answers[index] = std::move(answer);
  }
  return answers;
}

}  // namespace rdma_exporter::commands
