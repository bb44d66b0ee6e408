// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/module/module_eeprom.h"

#include <linux/ethtool_netlink.h>

#include <cerrno>
#include <optional>
#include <span>

#include "host/netlink/generic_netlink.h"
#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::module_eeprom {
namespace {

using generic_netlink::attributes;

template <typename Number>
void take(const Attr& attr, std::uint16_t type, std::uint8_t& value) {
  if (attr.type != type) return;
  if (const auto number = attr.number<Number>()) value = static_cast<std::uint8_t>(*number);
}

// Offset of the serial number in a range; 0 if the range does not contain it. The identifier (SFF-8024) is
// the first byte of the memory, and of page 00h in the standards that have pages.
std::size_t serial_number_at(const ModuleRange& range, Bytes data) {
  constexpr std::byte kSfp{0x03};
  if (range.address != 0x50 || range.page != 0 || data.empty()) return 0;
  if (range.offset == 0) return data[0] == kSfp ? 68 : 0;
  if (range.offset != 128) return 0;
  const bool is_sff8636 =
      data[0] == std::byte{0x0c} || data[0] == std::byte{0x0d} || data[0] == std::byte{0x11};
  return (is_sff8636 ? 196U : 166U) - range.offset;
}

}  // namespace

std::vector<std::byte> request(std::string_view netdev, const ModuleRange& range) {
  auto message = generic_netlink::message(ETHTOOL_MSG_MODULE_EEPROM_GET, ETHTOOL_GENL_VERSION);
  std::vector<std::byte> interface;
  append_text(interface, ETHTOOL_A_HEADER_DEV_NAME, netdev);
  append_attr(message, ETHTOOL_A_MODULE_EEPROM_HEADER | NLA_F_NESTED, interface);
  append_number(message, ETHTOOL_A_MODULE_EEPROM_OFFSET, std::uint32_t{range.offset});
  append_number(message, ETHTOOL_A_MODULE_EEPROM_LENGTH, std::uint32_t{range.length});
  append_number(message, ETHTOOL_A_MODULE_EEPROM_PAGE, range.page);
  append_number(message, ETHTOOL_A_MODULE_EEPROM_BANK, std::uint8_t{0});
  append_number(message, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, range.address);
  return message;
}

core::Result<ModuleRange> parse_request(Bytes payload) {
  const auto bytes = attributes(payload, ETHTOOL_MSG_MODULE_EEPROM_GET);
  ModuleRange range;
  const bool whole = bytes && for_each_attr(*bytes, [&](const Attr& attr) {
                       take<std::uint32_t>(attr, ETHTOOL_A_MODULE_EEPROM_OFFSET, range.offset);
                       take<std::uint32_t>(attr, ETHTOOL_A_MODULE_EEPROM_LENGTH, range.length);
                       take<std::uint8_t>(attr, ETHTOOL_A_MODULE_EEPROM_PAGE, range.page);
                       take<std::uint8_t>(attr, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, range.address);
                     });
  if (!whole || range.length == 0) return core::parse_error();
  return range;
}

core::Result<std::vector<std::byte>> parse(Bytes payload, std::size_t length) {
  const auto bytes = attributes(payload, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
  std::vector<std::byte> data;
  const bool whole = bytes && for_each_attr(*bytes, [&](const Attr& attr) {
                       if (attr.type == ETHTOOL_A_MODULE_EEPROM_DATA)
                         data.assign(attr.data.begin(), attr.data.end());
                     });
  if (!whole) return core::parse_error();
  if (data.size() != length) return core::os_error(EIO);
  return data;
}

std::vector<std::byte> with_serial_number(Bytes payload, const ModuleRange& range,
                                          const std::function<void(std::span<std::byte> text)>& change) {
  constexpr std::size_t kLength = 16;
  std::vector<std::byte> changed(payload.begin(), payload.end());
  const auto bytes = attributes(payload, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
  if (!bytes) return changed;
  for_each_attr(*bytes, [&](const Attr& attr) {
    if (attr.type != ETHTOOL_A_MODULE_EEPROM_DATA) return;
    const std::size_t at = serial_number_at(range, attr.data);
    if (at == 0 || attr.data.size() < at + kLength) return;
    const auto start = static_cast<std::size_t>(attr.data.data() - payload.data());
    change(std::span(changed).subspan(start + at, kLength));
  });
  return changed;
}

}  // namespace rdma_exporter::host::module_eeprom
