// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/probe_target.h"

#include <array>
#include <set>
#include <utility>

#include "config/listen_address.h"

namespace rdma_exporter::config {
namespace {

constexpr std::uint16_t kDefaultPort = 9401;

using Attribute = std::pair<std::string_view, std::string ProbeTarget::*>;
constexpr std::array<Attribute, 5> kAttributes{Attribute{"name", &ProbeTarget::name},
                                               {"group", &ProbeTarget::group},
                                               {"device", &ProbeTarget::device},
                                               {"from", &ProbeTarget::from},
                                               {"source", &ProbeTarget::source}};

core::Result<void> take_attribute(std::string_view text, ProbeTarget& target) {
  const auto equals = text.find('=');
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  for (const auto& [name, member] : kAttributes) {
    if (text.substr(0, equals) != name) continue;
    if (value.empty()) return core::config_error("has no value for " + std::string(name));
    if (!(target.*member).empty()) return core::config_error("has " + std::string(name) + " twice");
    target.*member = value;
    return {};
  }
  return core::config_error("has an attribute other than name, group, device, from and source");
}

// Without a name, the label shows the address as the user wrote it.
core::Result<void> take_address(std::string_view text, ProbeTarget& target) {
  const bool bracketed = text.starts_with('[');
  const std::size_t end = bracketed ? text.find(']') : std::string_view::npos;
  const bool with_port =
      (bracketed ? text.substr(end == std::string_view::npos ? 0 : end) : text).find(':') !=
      std::string_view::npos;
  const std::string whole =
      with_port ? std::string(text) : std::string(text) + ":" + std::to_string(kDefaultPort);
  const auto address = parse_listen_address(whole);
  if (!address) return tl::unexpected(address.error());
  if (address->host.empty() || address->port == 0 || !address->path.empty())
    return core::config_error("has no host or no port");
  target.address = address->host;
  target.port = address->port;
  return {};
}

}  // namespace

core::Result<ProbeTarget> parse_probe_target(std::string_view text) {
  ProbeTarget target;
  const auto comma = text.find(',');
  if (auto done = take_address(text.substr(0, comma), target); !done) return tl::unexpected(done.error());
  while (comma != std::string_view::npos) {
    text.remove_prefix(std::min(text.size(), text.find(',') + 1));
    const auto next = text.find(',');
    if (auto done = take_attribute(text.substr(0, next), target); !done) return tl::unexpected(done.error());
    if (next == std::string_view::npos) break;
  }
  return target;
}

std::string to_string(const ProbeTarget& target) {
  const bool ipv6 = target.address.find(':') != std::string::npos;
  std::string text = (ipv6 ? "[" + target.address + "]" : target.address) + ":" + std::to_string(target.port);
  for (const auto& [name, member] : kAttributes)
    if (!(target.*member).empty()) text += "," + std::string(name) + "=" + target.*member;
  return text;
}

}  // namespace rdma_exporter::config
