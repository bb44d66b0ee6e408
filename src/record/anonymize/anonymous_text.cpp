// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/anonymize/anonymous_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/text/number.h"
#include "record/question.h"

namespace rdma_exporter::record {
namespace {

bool is_hex(char c) { return core::is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_alphanumeric(char c) { return core::is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_alphanumeric(c) || c == '_'; }

template <typename Predicate>
bool all(std::string_view text, Predicate&& predicate) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

// Parses exactly `groups` groups of `digits` hexadecimal digits, separated by colons.
template <std::size_t Bytes>
std::optional<std::array<std::uint8_t, Bytes>> parse_groups(std::string_view text, std::size_t digits) {
  const std::size_t groups = 2 * Bytes / digits;
  if (text.size() != groups * (digits + 1) - 1) return std::nullopt;
  std::string hex;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool colon = i % (digits + 1) == digits;
    if (colon ? text[i] != ':' : !is_hex(text[i])) return std::nullopt;
    if (!colon) hex += static_cast<char>(text[i] >= 'A' && text[i] <= 'F' ? text[i] - 'A' + 'a' : text[i]);
  }
  std::string raw;
  from_hex(hex, raw);
  std::array<std::uint8_t, Bytes> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(raw.at(i));
  return bytes;
}

template <std::size_t Bytes>
std::string write_groups(const std::array<std::uint8_t, Bytes>& bytes, std::size_t digits) {
  const std::string hex = to_hex(chars(std::as_bytes(std::span(bytes))));
  std::string text;
  for (std::size_t i = 0; i < hex.size(); i += digits) text.append(i == 0 ? "" : ":").append(hex, i, digits);
  return text;
}

std::optional<Pseudonyms::Ipv4> parse_ipv4(std::string_view text) {
  Pseudonyms::Ipv4 address{};
  const char* next = text.data();
  const char* end = next + text.size();
  for (std::size_t i = 0; i < address.size(); ++i) {
    if (i > 0 && (next == end || *next++ != '.')) return std::nullopt;
    const auto [after, error] = std::from_chars(next, end, address[i]);
    if (error != std::errc() || after == next) return std::nullopt;
    next = after;
  }
  return next == end ? std::optional(address) : std::nullopt;
}

std::string write_ipv4(const Pseudonyms::Ipv4& address) {
  std::string text;
  for (const std::uint8_t byte : address) text.append(text.empty() ? "" : ".").append(std::to_string(byte));
  return text;
}

// Replaces a run of hexadecimal digits, colons and dots that is an address as a whole.
std::string anonymous_address(std::string_view run, Pseudonyms& pseudonyms) {
  if (const auto mac = parse_groups<6>(run, 2)) return write_groups(pseudonyms.mac(*mac), 2);
  // IP over InfiniBand: flags and a queue pair number, then the GID.
  if (auto address = parse_groups<20>(run, 2)) {
    Pseudonyms::Gid gid{};
    std::copy(address->begin() + 4, address->end(), gid.begin());
    gid = pseudonyms.gid(gid);
    std::copy(gid.begin(), gid.end(), address->begin() + 4);
    return write_groups(*address, 2);
  }
  if (const auto guid = parse_groups<8>(run, 4)) return write_groups(pseudonyms.guid(*guid), 4);
  if (const auto gid = parse_groups<16>(run, 4)) return write_groups(pseudonyms.gid(*gid), 4);
  if (const auto address = parse_ipv4(run)) return write_ipv4(pseudonyms.ipv4(*address));
  return std::string(run);
}

// Replaces whole words only: a host may be called "lab" or "node".
std::string replace_word(std::string text, std::string_view word, const std::string& by) {
  if (word.empty()) return text;
  const auto goes_on = [&](std::size_t at) { return at < text.size() && is_alphanumeric(text[at]); };
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    const bool whole = !(at > 0 && goes_on(at - 1)) && !goes_on(at + word.size());
    if (whole) text.replace(at, word.size(), by);
    at += whole ? by.size() : 1;
  }
  return text;
}

// Words of cgroup paths that identify the kind of owner, as used by Kubernetes, container runtimes, Slurm and
// systemd.
constexpr std::array<std::string_view, 29> kKnown{
    "kubepods", "burstable", "besteffort", "guaranteed",  "pod",     "cri",        "containerd", "crio",
    "docker",   "libpod",    "conmon",     "kubelet",     "slurm",   "slurmstepd", "system",     "user",
    "step",     "task",      "batch",      "init",        "machine", "session",    "app",        "scope",
    "slice",    "service",   "extern",     "interactive", "special"};

bool is_known(std::string_view word) { return std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end(); }

// Replaces one word between slashes, dots, dashes, underscores or colons.
std::string anonymous_word(std::string_view word, Pseudonyms& pseudonyms) {
  if (word.empty() || is_known(word)) return std::string(word);
  if (word == "job" || word == "uid") return std::string(word);
  if (all(word, core::is_digit)) return std::to_string(pseudonyms.number("cgroup number", word));
  return "name" + std::to_string(pseudonyms.number("name", word));
}

// Length of an id that starts here: 64 or 32 hexadecimal digits, or a UID with dashes or underscores. 0 if
// there is none.
std::size_t id_length(std::string_view text) {
  const auto hex_run = [&](std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && is_hex(text[end])) ++end;
    return end - from;
  };
  const std::size_t first = hex_run(0);
  if (first == 64 || first == 32) return first;
  if (first != 8) return 0;
  std::size_t at = 8;
  for (const std::size_t length : {4UL, 4UL, 4UL, 12UL}) {
    if (at >= text.size() || (text[at] != '-' && text[at] != '_') || hex_run(at + 1) != length) return 0;
    at += 1 + length;
  }
  return at;
}

std::string anonymous_path(std::string_view path, Pseudonyms& pseudonyms) {
  constexpr std::string_view kSeparators = "/.-_:";
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    // "podUID" is one word that contains an id.
    if (path.substr(at).starts_with("pod") && id_length(path.substr(at + 3)) > 0) {
      out += "pod";
      at += 3;
    }
    if (const std::size_t length = id_length(path.substr(at)); length > 0) {
      out += pseudonyms.hex_id(path.substr(at, length));
      at += length;
      continue;
    }
    const std::size_t end = std::min(path.find_first_of(kSeparators, at), path.size());
    out += anonymous_word(path.substr(at, end - at), pseudonyms);
    at = end;
    if (at < path.size()) out += path[at++];
  }
  return out;
}

}  // namespace

std::string anonymous_text(std::string_view text, std::string_view host_name, Pseudonyms& pseudonyms) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    // An address cannot begin inside a word: "eth0:1" contains none.
    std::size_t end = at;
    while (end < text.size() && (is_hex(text[end]) || text[end] == ':' || text[end] == '.')) ++end;
    const bool whole = end > at && (end == text.size() || !is_word(text[end]));
    if (!whole) {
      do out += text[at++];
      while (at < text.size() && is_word(text[at - 1]) && is_word(text[at]));
      continue;
    }
    // A trailing full stop or colon does not belong to it.
    std::size_t last = end;
    while (last > at && (text[last - 1] == ':' || text[last - 1] == '.')) --last;
    out += anonymous_address(text.substr(at, last - at), pseudonyms);
    out.append(text.substr(last, end - last));
    at = end;
  }
  if (host_name.empty()) return out;
  // "gpu17.example.org" may also appear without its domain.
  const std::string other = pseudonyms.name("host", host_name);
  out = replace_word(std::move(out), host_name, other);
  return replace_word(std::move(out), host_name.substr(0, host_name.find('.')), other);
}

std::string anonymous_cgroup(std::string_view text, Pseudonyms& pseudonyms) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    // "hierarchy:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    const std::size_t path = second == std::string_view::npos ? 0 : second + 1;
    out.append(line.substr(0, path)).append(anonymous_path(line.substr(path), pseudonyms));
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace rdma_exporter::record
