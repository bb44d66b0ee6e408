// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/scrape_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

namespace rdma_exporter::web {
namespace {

// application/x-www-form-urlencoded: %HH is a byte, + a blank.
std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    constexpr std::size_t kDigits = 2;
    const std::string_view digits = text.substr(i + 1, kDigits);
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (!whole || digits.size() != kDigits) return std::nullopt;
    out += static_cast<char>(byte);
    i += kDigits;
  }
  return out;
}

using core::Format;

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes what comes before `separator` off the front of `rest`. Quoted strings are not looked into: nothing
// that is served has a parameter that needs one.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = trim(rest.substr(0, at));
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

bool same(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// A weight from 0 to 1; 0, which means "not this", for what is no such number.
double parse_weight(std::string_view text) {
  double weight = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), weight, std::chars_format::fixed);
  const bool number = error == std::errc() && end == text.data() + text.size();
  return number && std::isfinite(weight) && weight >= 0 && weight <= 1 ? weight : 0;
}

// Calls visit(name, value) for the parameters of one element of a list and returns its weight.
template <typename Visit>
double read_parameters(std::string_view rest, Visit visit) {
  double weight = 1;
  while (!rest.empty()) {
    std::string_view value = take(rest, ';');
    const std::string_view name = take(value, '=');
    if (same(name, "q")) {
      weight = parse_weight(trim(value));
    } else {
      visit(name, trim(value));
    }
  }
  return weight;
}

struct Choice {
  std::optional<Format> format;  ///< none: nothing that is served
  double weight = 0;
};

Choice read_media_range(std::string_view range) {
  const std::string_view type = take(range, ';');
  std::string_view version;
  std::string_view message;
  std::string_view encoding;
  const double weight = read_parameters(range, [&](std::string_view name, std::string_view value) {
    if (same(name, "version")) version = value;
    if (same(name, "proto")) message = value;
    if (same(name, "encoding")) encoding = value;
  });
  const auto if_version = [&](std::string_view ours, Format format) {
    return version.empty() || version == ours ? std::optional(format) : std::nullopt;
  };
  if (type == "*/*" || same(type, "text/*") || same(type, "text/plain"))
    return {if_version("0.0.4", Format::text), weight};
  if (same(type, "application/openmetrics-text")) return {if_version("1.0.0", Format::openmetrics), weight};
  if (same(type, "application/vnd.google.protobuf") && message == "io.prometheus.client.MetricFamily" &&
      same(encoding, "delimited"))
    return {Format::protobuf, weight};
  return {std::nullopt, weight};
}

}  // namespace

core::Result<CollectorFilter> parse_filter(std::string_view query) {
  CollectorFilter filter;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const auto name = decode_percent(pair.substr(0, equals));
    const auto value =
        equals == std::string_view::npos ? std::string() : decode_percent(pair.substr(equals + 1));
    if (!name || !value) return core::config_error("broken percent escape in the query");
    if (*name == "collect[]") filter.collect.push_back(*value);
    if (*name == "exclude[]") filter.exclude.push_back(*value);
    if (*name == "collect" || *name == "exclude")
      return core::config_error(*name + ": unknown parameter (did you mean " + *name + "[]?)");
  }
  if (!filter.collect.empty() && !filter.exclude.empty())
    return core::config_error("collect[] and exclude[] cannot be combined");
  return filter;
}

Format preferred_format(std::string_view accept) {
  Choice best{Format::text, 0};
  while (!accept.empty()) {
    const Choice choice = read_media_range(take(accept, ','));
    if (choice.format && choice.weight > best.weight) best = choice;
  }
  return *best.format;
}

bool accepts_gzip(std::string_view accept_encoding) {
  std::optional<double> gzip;
  double others = 0;
  while (!accept_encoding.empty()) {
    std::string_view coding = take(accept_encoding, ',');
    const std::string_view name = take(coding, ';');
    const double weight = read_parameters(coding, [](std::string_view, std::string_view) {});
    if (same(name, "gzip") || same(name, "x-gzip")) gzip = weight;
    if (name == "*") others = weight;
  }
  return gzip.value_or(others) > 0;
}

std::string_view content_type(Format format) {
  switch (format) {
    case Format::openmetrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case Format::protobuf:
      return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
    case Format::text:
      break;
  }
  return "text/plain; version=0.0.4; charset=utf-8";
}

std::chrono::nanoseconds scrape_time(const Timeouts& timeouts, std::string_view header) {
  using Seconds = std::chrono::duration<double>;
  double value = 0;
  const char* const end = header.data() + header.size();
  const auto [rest, error] = std::from_chars(header.data(), end, value);
  const bool usable = error == std::errc() && rest == end && std::isfinite(value) && value > 0;
  if (!usable) return timeouts.scrape;

  Seconds allowed = Seconds(value) - Seconds(timeouts.offset);
  if (allowed <= Seconds::zero()) allowed = Seconds(value / 2);
  // Compared before the cast: a timeout of 1e300 s has no representation in nanoseconds.
  if (allowed >= Seconds(timeouts.scrape)) return timeouts.scrape;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(allowed);
}

}  // namespace rdma_exporter::web
