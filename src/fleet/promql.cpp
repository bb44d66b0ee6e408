// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/promql.h"

#include <fmt/core.h>

namespace rdma_exporter::fleet {
namespace {

constexpr long kWindow = 600;
constexpr std::size_t kShardBeyond = 8192;  // NICs: as many series as a server answers in a tenth of a second
constexpr std::size_t kListed = 200;

std::string joined(std::string_view a, std::string_view b) {
  return fmt::format("{}{}{}", a, a.empty() || b.empty() ? "" : ",", b);
}

}  // namespace

std::string PromQl::series(std::string_view metric, std::string_view matchers) const {
  const std::string all = joined(matchers, options_.selector);
  return all.empty() ? std::string(metric) : fmt::format("{}{{{}}}", metric, all);
}

std::string PromQl::range(std::string_view function, std::string_view metric,
                          std::string_view matchers) const {
  return fmt::format("{}({}[{}s])", function, series(metric, matchers), window());
}

std::string PromQl::rate(std::string_view metric, std::string_view matchers) const {
  return range("rate", metric, matchers);
}

std::string PromQl::increase(std::string_view metric, std::string_view matchers) const {
  return range("increase", metric, matchers);
}

long PromQl::window() const { return options_.window.count() > 0 ? options_.window.count() : kWindow; }

void PromQl::shard_by(const Hosts& hosts) {
  if (hosts.nics() <= kShardBeyond) return;
  shards_.clear();
  for (const auto& [device, count] : hosts.rails()) shards_.push_back("device=" + in_quotes(device));
}

void PromQl::add_sharded(Plan& plan, const std::string& table, const std::vector<std::string>& columns,
                         const std::function<std::string(const std::string&)>& expression) const {
  for (const std::string& shard : shards_) plan.push_back({table, expression(shard), columns});
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string any_of(const std::vector<std::string>& names) {
  constexpr std::string_view kSpecial = ".+*?()|[]{}^$\\";
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += '|';
    for (const char c : name) {
      if (kSpecial.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string one_of(std::string_view label, const std::set<std::string>& values) {
  if (values.size() > kListed) return fmt::format("{}!=\"\"", label);
  return fmt::format("{}=~{}", label, in_quotes(any_of({values.begin(), values.end()})));
}

}  // namespace rdma_exporter::fleet
