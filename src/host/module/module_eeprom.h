// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/module/module.h"
#include "host/netlink/netlink.h"

// ETHTOOL_MSG_MODULE_EEPROM_GET of ethtool's generic netlink family (Linux 5.13, net/ethtool/eeprom.c). Needs
// CAP_NET_ADMIN; holds the RTNL lock while firmware talks to the module over I2C, milliseconds a range.
namespace rdma_exporter::host::module_eeprom {

std::vector<std::byte> request(std::string_view netdev, const ModuleRange& range);

/// The range that a request asks for; an error for every other message.
core::Result<ModuleRange> parse_request(Bytes payload);

/// The bytes of the module: `length` of them. Another number is EIO: mlx5 of Linux 6.1 answers a read that
/// failed with success and no bytes.
core::Result<std::vector<std::byte>> parse(Bytes payload, std::size_t length);

/// An answer in which the serial number of a module is replaced; `change` writes the new bytes. Applies to
/// SFP's whole first memory and to a whole page 00h. Every other answer stays as it is.
std::vector<std::byte> with_serial_number(Bytes payload, const ModuleRange& range,
                                          const std::function<void(std::span<std::byte> text)>& change);

}  // namespace rdma_exporter::host::module_eeprom
