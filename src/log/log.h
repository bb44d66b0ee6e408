// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// The log: one line per event on standard error, logfmt or JSON, as the Prometheus family writes it.
namespace rdma_exporter::log {

enum class Level : unsigned char { debug, info, warn, error };
enum class Format : unsigned char { logfmt, json };

using Field = std::pair<std::string_view, std::string>;

/// Sets level and format; call once at start, before threads exist, and on reload.
void setup(Level level, Format format);
bool enabled(Level level);

/// Any thread. Values are quoted and escaped as the format asks; control characters never reach the terminal.
void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  write(Level::error, message, fields);
}

/// The line without time and newline, for tests: `level=info msg="..." key=value`.
std::string format_line(Format format, Level level, std::string_view message,
                        std::initializer_list<Field> fields);

}  // namespace rdma_exporter::log
