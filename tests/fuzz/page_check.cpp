// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/fuzz/page_check.h"

#include <cstdint>
#include <cstdlib>
#include <set>

namespace rdma_exporter::fuzz {
namespace {

bool name_char(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

class Reader {
 public:
  explicit Reader(std::string_view page) : rest_(page) {}

  std::string error() {
    while (!rest_.empty() && error_.empty()) {
      const std::size_t end = rest_.find('\n');
      if (end == std::string_view::npos) return "the last line has no end";
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      read_line();
      if (!error_.empty()) error_ += ": " + std::string(line_);
    }
    return error_;
  }

 private:
  void fail(const char* what) {
    if (error_.empty()) error_ = what;
  }
  bool take(std::string_view expected) {
    if (!at_.starts_with(expected)) return false;
    at_.remove_prefix(expected.size());
    return true;
  }
  std::string_view take_name() {
    std::size_t length = 0;
    while (length < at_.size() && name_char(at_[length], length == 0)) ++length;
    const std::string_view name = at_.substr(0, length);
    at_.remove_prefix(length);
    if (name.empty()) fail("no name");
    return name;
  }

  void read_line() {
    if (!is_utf8(line_)) return fail("no UTF-8");
    at_ = line_;
    if (take("# HELP ")) return read_help();
    if (take("# TYPE ")) return read_type();
    read_sample();
  }

  void read_help() {
    family_ = take_name();
    if (!families_.insert(family_).second) fail("a family in two pieces");
    if (!take(" ")) fail("no help");
    typed_ = false;
    for (std::size_t i = 0; i < at_.size(); ++i)
      if (at_[i] == '\\' && (++i >= at_.size() || (at_[i] != '\\' && at_[i] != 'n')))
        fail("bad escape in HELP");
  }

  void read_type() {
    if (take_name() != family_ || typed_) fail("TYPE does not follow its HELP");
    if (at_ != " counter" && at_ != " gauge") fail("no type");
    typed_ = true;
  }

  void read_sample() {
    if (take_name() != family_ || !typed_) fail("a sample outside of its family");
    if (take("{")) read_labels();
    if (!series_.insert(line_.substr(0, line_.size() - at_.size())).second) fail("a series twice");
    if (!take(" ")) fail("no value");
    read_value();
  }

  void read_labels() {
    do {
      const std::string_view name = take_name();
      if (name.starts_with("__")) fail("a reserved label");
      if (!take("=\"")) return fail("no label value");
      while (!at_.empty() && at_.front() != '"') {
        if (take("\\\\") || take("\\\"") || take("\\n")) continue;
        if (at_.front() == '\\') return fail("bad escape");
        at_.remove_prefix(1);
      }
      if (!take("\"")) return fail("a label value without end");
    } while (take(","));
    if (!take("}")) fail("labels without end");
  }

  void read_value() {
    if (at_ == "NaN" || at_ == "+Inf" || at_ == "-Inf") return;
    if (at_.empty() || at_.find_first_not_of("0123456789+-.e") != std::string_view::npos)
      return fail("no number");
    const std::string text(at_);
    char* end = nullptr;
    (void)std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size()) fail("no number");
  }

  std::string_view rest_;
  std::string_view line_;
  std::string_view at_;
  std::string_view family_;
  bool typed_ = false;
  std::set<std::string_view> families_;
  std::set<std::string_view> series_;
  std::string error_;
};

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80       ? 1
                               : lead >> 5 == 6  ? 2
                               : lead >> 4 == 14 ? 3
                               : lead >> 3 == 30 ? 4
                                                 : 0;
    if (length == 0 || i + length > text.size()) return false;
    std::uint32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if (byte >> 6 != 2) return false;
      code = code << 6 | (byte & 0x3FU);
    }
    constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    i += length;
  }
  return true;
}

std::string page_error(std::string_view page) { return Reader(page).error(); }

}  // namespace rdma_exporter::fuzz
