// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/anonymize/anonymize.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "host/module/module_eeprom.h"
#include "host/netlink/address_message.h"
#include "host/netlink/devlink.h"
#include "host/netlink/nldev/rewrite.h"
#include "record/anonymize/anonymous_text.h"
#include "record/question.h"

namespace rdma_exporter::record {
namespace {

// Copies a value out of bytes, changes it, and puts it back.
template <typename Value, typename Change>
void replace(std::span<std::byte> bytes, std::size_t at, Change&& change) {
  Value value{};
  if (bytes.size() < at + sizeof value) return;
  std::memcpy(value.data(), &bytes[at], sizeof value);
  value = change(value);
  std::memcpy(&bytes[at], value.data(), sizeof value);
}

// GUIDs and prefixes are in host byte order here (core/nldev.c be64_to_cpu), which is little-endian.
template <typename Change>
void replace_reversed(std::span<std::byte, 8> bytes, Change&& change) {
  std::reverse(bytes.begin(), bytes.end());
  replace<Pseudonyms::Guid>(bytes, 0, change);
  std::reverse(bytes.begin(), bytes.end());
}

void replace_address(std::span<std::byte> address, Pseudonyms& pseudonyms) {
  sa_family_t family = 0;
  if (address.size() < sizeof family) return;
  std::memcpy(&family, address.data(), sizeof family);
  if (family == AF_INET)
    replace<Pseudonyms::Ipv4>(address, offsetof(sockaddr_in, sin_addr),
                              [&](const auto& real) { return pseudonyms.ipv4(real); });
  if (family == AF_INET6)
    replace<Pseudonyms::Gid>(address, offsetof(sockaddr_in6, sin6_addr),
                             [&](const auto& real) { return pseudonyms.gid(real); });
  // AF_IB (include/rdma/ib.h struct sockaddr_ib): the GID is at offset 8.
  constexpr sa_family_t kInfiniband = 27;
  if (family == kInfiniband)
    replace<Pseudonyms::Gid>(address, 8, [&](const auto& real) { return pseudonyms.gid(real); });
}

std::string anonymous_message(const std::string& message, Pseudonyms& pseudonyms) {
  const host::nldev::Identities identities{
      [&](std::span<std::byte, 8> guid) {
        replace_reversed(guid, [&](const auto& real) { return pseudonyms.guid(real); });
      },
      [&](std::span<std::byte, 8> prefix) {
        replace_reversed(prefix, [&](const auto& real) { return pseudonyms.subnet_prefix(real); });
      },
      [&](std::span<std::byte> address) { replace_address(address, pseudonyms); }};
  return std::string(chars(host::nldev::with_identities(bytes(message), identities)));
}

// Addresses of an interface (RTM_GETADDR).
std::string anonymous_addresses(const std::string& message, Pseudonyms& pseudonyms) {
  const auto change = [&](std::span<std::byte> address) {
    if (address.size() == Pseudonyms::Ipv4().size())
      replace<Pseudonyms::Ipv4>(address, 0, [&](const auto& real) { return pseudonyms.ipv4(real); });
    if (address.size() == Pseudonyms::Gid().size())
      replace<Pseudonyms::Gid>(address, 0, [&](const auto& real) { return pseudonyms.gid(real); });
  };
  return std::string(chars(host::with_addresses(bytes(message), change)));
}

// The memory of a module (ETHTOOL_MSG_MODULE_EEPROM_GET); `question` ends with the request.
std::string anonymous_module(std::string_view question, const std::string& message, Pseudonyms& pseudonyms) {
  std::string request;
  if (!from_hex(question.substr(question.rfind(' ') + 1), request)) return message;
  const auto range = host::module_eeprom::parse_request(bytes(request));
  if (!range) return message;
  const auto change = [&](std::span<std::byte> text) {
    std::string name = pseudonyms.name("module", chars(text));
    name.resize(text.size(), ' ');
    std::memcpy(text.data(), name.data(), text.size());
  };
  return std::string(chars(host::module_eeprom::with_serial_number(bytes(message), *range, change)));
}

// "e41d2d0300aabbcc": the form in which phys_switch_id and phys_port_id contain GUIDs and MAC addresses.
std::string anonymous_digits(const std::string& text, Pseudonyms& pseudonyms) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  return pseudonyms.hex_id(std::string_view(text).substr(0, end)) + text.substr(end);
}

std::string with_newline_of(const std::string& old, std::string text) {
  if (old.ends_with('\n')) text += '\n';
  return text;
}

// The content of a file, depending on its name.
std::string anonymous_file(std::string_view path, const std::string& text, const std::string& host_name,
                           Pseudonyms& pseudonyms) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (text.find_first_not_of(" \n") == std::string::npos) return text;
  if (name == "comm") return with_newline_of(text, pseudonyms.name("process", text));
  if (name == "node_desc") return with_newline_of(text, pseudonyms.name("node", text));
  if (name == "cgroup") return anonymous_cgroup(text, pseudonyms);
  if (name == "phys_switch_id" || name == "phys_port_id") return anonymous_digits(text, pseudonyms);
  // Four numbers with dots are not an address there.
  if (name == "fw_ver" || name == "version") return text;
  return anonymous_text(text, host_name, pseudonyms);
}

}  // namespace

Snapshot anonymous(const Snapshot& snapshot, const std::string& host_name, Pseudonyms& pseudonyms) {
  const std::string addresses = "netlink route " + std::to_string(host::kGetAddresses) + " ";
  Snapshot out;
  for (const auto& [question, answer] : snapshot) {
    Answer changed = answer;
    const bool is_read = question.starts_with("sysfs read ") || question.starts_with("procfs read ");
    const bool is_rdma = question.starts_with("netlink rdma ");
    const bool is_generic = question.starts_with("netlink generic ");
    const bool is_addresses = question.starts_with(addresses);
    for (std::string& part : changed.parts) {
      if (is_read) part = anonymous_file(question, part, host_name, pseudonyms);
      if (is_rdma) part = anonymous_message(part, pseudonyms);
      if (is_generic) part = anonymous_module(question, part, pseudonyms);
      if (is_generic) part = std::string(chars(host::devlink::without_serials(bytes(part))));
      if (is_addresses) part = anonymous_addresses(part, pseudonyms);
    }
    out.emplace(question, std::move(changed));
  }
  return out;
}

}  // namespace rdma_exporter::record
