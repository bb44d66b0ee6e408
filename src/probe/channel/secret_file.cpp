// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/secret_file.h"

#include <charconv>

#include "core/text/regular_file.h"

namespace rdma_exporter::probe {
namespace {

constexpr std::size_t kMaxTextBytes = 16384;
constexpr std::size_t kMinKeyBytes = 16;
constexpr std::size_t kMaxKeyBytes = 64;
constexpr std::size_t kMaxIdentityBytes = 64;

bool parse_key(std::string_view hex, std::vector<unsigned char>& key) {
  if (hex.size() % 2 != 0 || hex.size() < 2 * kMinKeyBytes || hex.size() > 2 * kMaxKeyBytes) return false;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (error != std::errc() || end != hex.data() + i + 2) return false;
    key.push_back(byte);
  }
  return true;
}

std::string_view trim(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

bool parse_line(std::string_view line, Secret& secret) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > kMaxIdentityBytes) return false;
  secret.identity = line.substr(0, colon);
  return parse_key(line.substr(colon + 1), secret.key);
}

}  // namespace

core::Result<std::vector<Secret>> parse_secrets(std::string_view text) {
  std::vector<Secret> secrets;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    Secret secret;
    if (!parse_line(line, secret))
      return core::config_error("line " + std::to_string(number) +
                                " is not identity:key with a key of 32 to 128 hexadecimal digits");
    secrets.push_back(std::move(secret));
  }
  if (secrets.empty()) return core::config_error("contains no key");
  return secrets;
}

core::Result<std::vector<Secret>> read_secrets(const std::string& path) {
  const auto file = core::RegularFile::open(path);
  if (!file) return core::unreadable(path, file.error());
  if ((file->status().st_mode & S_IRWXO) != 0)
    return core::config_error(path + " is accessible to every user of this host; use chmod o= " + path);
  const auto text = file->read(kMaxTextBytes);
  if (!text) return core::unreadable(path, text.error());
  auto secrets = parse_secrets(*text);
  if (!secrets) return core::config_error(path + ": " + secrets.error().context.text());
  return secrets;
}

}  // namespace rdma_exporter::probe
