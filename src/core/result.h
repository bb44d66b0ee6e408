// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rdma_exporter::core {

/// The kind of an error, which decides the `reason` label of error counters.
enum class Errc : unsigned char {
  os,        ///< a system call failed; see os_errno
  parse,     ///< the source returned bytes that do not have the format its kernel documents
  too_long,  ///< the source is longer than the limit of the read
  config,    ///< invalid input from a person; context is a complete message
};

/// What else is known about an error: a path, a message. A host keeps thousands of facts, each of which may
/// be an error, and nearly none has a context: so it takes the space of a pointer.
class ErrorContext {
 public:
  ErrorContext() = default;
  ErrorContext(std::string text)
      : text_(text.empty() ? nullptr : std::make_unique<const std::string>(std::move(text))) {}
  ErrorContext(const char* text) : ErrorContext(std::string(text)) {}
  ErrorContext(const ErrorContext& other)
      : text_(other.text_ ? std::make_unique<const std::string>(*other.text_) : nullptr) {}
  ErrorContext(ErrorContext&&) = default;
  ErrorContext& operator=(const ErrorContext& other) { return *this = ErrorContext(other); }
  ErrorContext& operator=(ErrorContext&&) = default;
  ~ErrorContext() = default;

  bool empty() const { return !text_; }
  const std::string& text() const {
    static const std::string none;
    return text_ ? *text_ : none;
  }

 private:
  std::unique_ptr<const std::string> text_;  ///< null: empty
};

/// A recoverable error. Cheap to make: on the read path the context stays empty.
struct Error {
  Errc kind = Errc::os;
  int os_errno = 0;
  ErrorContext context = {};
};

template <typename T>
using Result = tl::expected<T, Error>;

/// An Error for `os_errno` as left by a system call (positive number).
inline tl::unexpected<Error> os_error(int os_errno, ErrorContext context = {}) {
  return tl::unexpected(Error{Errc::os, os_errno, std::move(context)});
}
inline tl::unexpected<Error> parse_error(ErrorContext context = {}) {
  return tl::unexpected(Error{Errc::parse, 0, std::move(context)});
}
inline tl::unexpected<Error> too_long_error() { return tl::unexpected(Error{Errc::too_long, 0, {}}); }
inline tl::unexpected<Error> config_error(std::string message) {
  return tl::unexpected(Error{Errc::config, 0, std::move(message)});
}

/// Symbolic name of an errno value ("EIO"; 524 is the kernel's own "ENOTSUPP"), or "errno_other" for one
/// without. The result has static storage and is one of a bounded set: safe as a label value.
std::string_view errno_name(int os_errno);

/// The value of a `reason` label: an errno name such as "EIO", or "parse", "too_long", "config".
inline std::string_view reason(const Error& error) {
  switch (error.kind) {
    case Errc::os:
      return errno_name(error.os_errno);
    case Errc::parse:
      return "parse";
    case Errc::too_long:
      return "too_long";
    case Errc::config:
      return "config";
  }
  return "unknown";
}

/// True when `error` is the system error `os_errno`.
inline bool is_errno(const Error& error, int os_errno) {
  return error.kind == Errc::os && error.os_errno == os_errno;
}

/// A line for a person: the context and the reason.
inline std::string to_string(const Error& error) {
  if (error.context.empty()) return std::string(reason(error));
  if (error.kind == Errc::config) return error.context.text();
  return error.context.text() + ": " + std::string(reason(error));
}

}  // namespace rdma_exporter::core
