// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/value_type.h"

#include <algorithm>
#include <charconv>

#include "config/duration.h"
#include "config/listen_address.h"
#include "config/probe_target.h"
#include "core/text/escape.h"

namespace rdma_exporter::config {
namespace {

constexpr std::size_t kLongestText = 4096;  // PATH_MAX

/// What is wrong with `value` as one line of text; nullptr if nothing is.
const char* text_problem(std::string_view value) {
  if (value.size() > kLongestText) return "is too long";
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(value.begin(), value.end(), is_control)) return "contains a control character";
  std::string checked;
  core::append_utf8(checked, value);
  return checked == value ? nullptr : "is not valid UTF-8";
}

core::Result<std::string> parse_text(std::string_view value) {
  if (const char* problem = text_problem(value)) return core::config_error(problem);
  return std::string(value);
}

std::string same(const std::string& value) { return value; }

core::Result<unsigned> parse_number(std::string_view value, unsigned min, unsigned max) {
  unsigned long long wide = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), wide);
  const bool whole = end == value.data() + value.size();
  if (!whole || status == std::errc::invalid_argument) return core::config_error("is not a whole number");
  if (status != std::errc() || wide < min || wide > max) return core::config_error("is out of range");
  return static_cast<unsigned>(wide);
}

/// RFC 3986 pchar without percent-encoding, and the slash: characters that a request line carries unchanged.
bool is_path_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/-._~!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

core::Result<std::string> parse_telemetry_path(std::string_view value) {
  if (value.empty() || value.front() != '/') return core::config_error("does not start with /");
  if (value == "/") return core::config_error("is reserved for the landing page");
  if (value == "/-" || value.starts_with("/-/"))
    return core::config_error("is reserved for health and readiness checks");
  if (value.starts_with("//") || !std::all_of(value.begin(), value.end(), is_path_char)) {
    return core::config_error("is not a plain URL path");
  }
  return parse_text(value);
}

}  // namespace

ValueType<std::string> text(std::string_view placeholder, std::string_view allowed) {
  return {std::string(placeholder), std::string(allowed), parse_text, same};
}

ValueType<std::string> filled_text(std::string_view placeholder, std::string_view allowed) {
  auto type = text(placeholder, allowed);
  type.parse = [](std::string_view value) -> core::Result<std::string> {
    if (value.empty()) return core::config_error("is empty");
    return parse_text(value);
  };
  return type;
}

ValueType<core::Pattern> regex() {
  return {
      "REGEX", "use an RE2 expression as in Prometheus, which has to match the whole name",
      [](std::string_view value) -> core::Result<core::Pattern> {
        if (auto checked = parse_text(value); !checked) return tl::unexpected(checked.error());
        auto pattern = core::Pattern::compile(value);
        if (pattern) return pattern;
        const char* hint = value.starts_with('*') ? "; .* matches anything" : "";
        return core::config_error("is not a regular expression: " + pattern.error().context.text() + hint);
      },
      &core::Pattern::text};
}

ValueType<core::Pattern> regex_for(std::vector<std::string_view> names, std::string_view what) {
  auto type = regex();
  type.parse = [parse = std::move(type.parse), names = std::move(names),
                what = std::string(what)](std::string_view value) -> core::Result<core::Pattern> {
    auto pattern = parse(value);
    if (!pattern || !pattern->is_set()) return pattern;
    const auto matches = [&](std::string_view name) { return pattern->matches(name); };
    if (names.empty() || std::any_of(names.begin(), names.end(), matches)) return pattern;
    return core::config_error("does not match the whole name of any " + what);
  };
  return type;
}

ValueType<ProbeTarget> probe_target() {
  return {
      "TARGET",
      "use HOST:PORT, optionally followed by ,name=NAME,group=GROUP,device=DEVICE,from=DEVICE,source=ADDRESS",
      parse_probe_target, [](const ProbeTarget& target) { return to_string(target); }};
}

ValueType<std::string> listen_address() {
  auto type = text(
      "ADDRESS", "use HOST:PORT, such as :9400, 127.0.0.1:9400, [::1]:9400 or localhost:9400, or unix:/PATH");
  type.parse = [](std::string_view value) -> core::Result<std::string> {
    return parse_listen_address(value).map([value](const ListenAddress&) { return std::string(value); });
  };
  return type;
}

ValueType<std::string> telemetry_path() {
  auto type = text("PATH", "use a path such as /metrics");
  type.parse = parse_telemetry_path;
  return type;
}

ValueType<bool> boolean() {
  auto parse = [](std::string_view value) -> core::Result<bool> {
    if (value == "true") return true;
    if (value == "false") return false;
    return core::config_error("is not a boolean");
  };
  return {"BOOLEAN", "use true or false", parse, [](const bool& value) { return value ? "true" : "false"; },
          true};
}

ValueType<unsigned> number(unsigned min, unsigned max) {
  auto parse = [min, max](std::string_view value) { return parse_number(value, min, max); };
  return {"NUMBER", "use " + std::to_string(min) + " to " + std::to_string(max), parse,
          [](const unsigned& value) { return std::to_string(value); }, true};
}

ValueType<std::optional<unsigned>> automatic_or(const ValueType<unsigned>& number) {
  auto parse = [inner = number.parse](std::string_view value) -> core::Result<std::optional<unsigned>> {
    if (value == "auto") return std::nullopt;
    return inner(value).map([](unsigned parsed) { return std::optional(parsed); });
  };
  return {number.placeholder + "|auto", number.allowed + ", or auto", parse,
          [](const std::optional<unsigned>& value) { return value ? std::to_string(*value) : "auto"; }, true};
}

ValueType<std::chrono::milliseconds> duration(std::chrono::milliseconds min, std::chrono::milliseconds max) {
  auto parse = [min, max](std::string_view value) -> core::Result<std::chrono::milliseconds> {
    auto parsed = parse_duration(value);
    if (parsed && (*parsed < min || *parsed > max)) return core::config_error("is out of range");
    return parsed;
  };
  return {"DURATION",
          "use " + format_duration(min) + " to " + format_duration(max) + ", such as 500ms, 5s or 1m30s",
          parse, [](const std::chrono::milliseconds& value) { return format_duration(value); }};
}

ValueType<std::chrono::seconds> whole_seconds(std::chrono::seconds min, std::chrono::seconds max) {
  auto parse = [fine = duration(min, max)](std::string_view value) -> core::Result<std::chrono::seconds> {
    const auto parsed = fine.parse(value);
    if (!parsed) return tl::unexpected(parsed.error());
    const auto whole = std::chrono::floor<std::chrono::seconds>(*parsed);
    if (whole != *parsed) return core::config_error("is not a whole number of seconds");
    return whole;
  };
  return {"DURATION",
          "use " + format_duration(min) + " to " + format_duration(max) + ", such as 90s, 24h or 7d", parse,
          [](const std::chrono::seconds& value) { return format_duration(value); }};
}

std::string allowed_words(const Words& words) {
  std::vector<std::string> names;
  for (const auto& word : words) names.push_back(word.first);
  return "use " + alternatives(names);
}

core::Result<int> value_of_word(const Words& words, std::string_view text) {
  for (const auto& [name, value] : words) {
    if (name == text) return value;
  }
  return core::config_error("is not a valid value");
}

std::string word_of_value(const Words& words, int value) {
  for (const auto& [name, named] : words) {
    if (named == value) return name;
  }
  return {};
}

}  // namespace rdma_exporter::config
