// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

#include "log/caught.h"

namespace rdma_exporter::log {
namespace {

struct Settings {
  std::atomic<Level> level{Level::info};
  std::atomic<Format> format{Format::logfmt};
};

Settings& settings() {
  static Settings instance;
  return instance;
}

std::string pattern(Format format) {
  return format == Format::json ? "{\"ts\":\"%Y-%m-%dT%H:%M:%S.%eZ\",%v}" : "ts=%Y-%m-%dT%H:%M:%S.%eZ %v";
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made =
        std::make_shared<spdlog::logger>("rdma_exporter", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    made->set_pattern(pattern(Format::logfmt), spdlog::pattern_time_type::utc);
    return made;
  }();
  return *instance;
}

constexpr std::string_view name(Level level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
  return kNames[static_cast<unsigned>(level)];
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// logfmt: bare where nothing needs quoting, else a JSON string, as the Go libraries do.
std::string logfmt_text(std::string_view text) {
  bool bare = !text.empty();
  for (const char c : text) bare = bare && c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  return bare ? std::string(text) : json_text(text);
}

void append_pair(std::string& line, Format format, std::string_view key, std::string_view value) {
  if (format == Format::json) {
    line += line.empty() ? "" : ",";
    line += json_text(key) + ":" + json_text(value);
  } else {
    line += line.empty() ? "" : " ";
    line.append(key).append("=").append(logfmt_text(value));
  }
}

}  // namespace

void setup(Level level, Format format) {
  settings().level = level;
  settings().format = format;
  logger().set_pattern(pattern(format), spdlog::pattern_time_type::utc);
}

bool enabled(Level level) { return level >= settings().level.load(std::memory_order_relaxed); }

std::string format_line(Format format, Level level, std::string_view message,
                        std::initializer_list<Field> fields) {
  std::string line;
  append_pair(line, format, "level", name(level));
  append_pair(line, format, "msg", message);
  for (const auto& [key, value] : fields) append_pair(line, format, key, value);
  return line;
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  const Format format = settings().format;
  logger().log(spdlog::level::info, "{}", format_line(format, level, message, fields));
}

void caught(std::string_view message, const std::exception& exception) noexcept {
  try {
    error(message, {{"error", exception.what()}});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): there is nowhere to say it
  }
}

}  // namespace rdma_exporter::log
