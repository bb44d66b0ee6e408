// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/text/number_list.h"

// Pure parsers of the text that the kernel prints in sysfs and procfs. None throws, and on success only those
// that return a list allocate. Text that the named kernel function does not print is a parse error. All
// accept one trailing newline or blanks.
namespace rdma_exporter::core {

/// `text` without leading and trailing blanks, newlines and NULs.
std::string_view trim(std::string_view text);

/// A counter file: an unsigned decimal number (drivers/infiniband/core/sysfs.c show_pma_counter,
/// hw_stat_port_show). nullopt for "N/A (no PMA)" of kernels before 4.5: the file exists, the counter does
/// not.
Result<std::optional<std::uint64_t>> parse_counter(std::string_view text);

/// A decimal number, negative allowed (numa_node prints -1 for "unknown").
Result<std::int64_t> parse_integer(std::string_view text);

/// "4: ACTIVE" -> 4 (state, phys_state, node_type: "%d: %s" in core/sysfs.c).
Result<std::uint32_t> parse_enum(std::string_view text);

/// "0x1a" -> 26 (lid, sm_lid, cap_mask: "0x%x").
Result<std::uint32_t> parse_hex(std::string_view text);

/// What rate_show() of core/sysfs.c prints: "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)".
struct LinkRate {
  double bytes_per_second;  ///< signalling rate of all lanes: Gb/s x 1e9 / 8
  std::uint32_t lanes;      ///< 1, 2, 4, 8 or 12
  bool operator==(const LinkRate&) const = default;
};
Result<LinkRate> parse_rate(std::string_view text);

/// PCI current_link_speed, max_link_speed ("16.0 GT/s PCIe", drivers/pci/probe.c pci_speed_string) in
/// transfers per second; nullopt for "Unknown", which virtual functions print.
Result<std::optional<double>> parse_pci_speed(std::string_view text);

/// PCI current_link_width, max_link_width in lanes; nullopt for 0 and 255, which mean "not known".
Result<std::optional<std::uint32_t>> parse_pci_width(std::string_view text);

/// What tc/N/traffic_class of the vendor driver MLNX_OFED prints (main_ext.c traffic_class_show): "Global
/// tclass=106", then perhaps rules for single addresses. nullopt where no traffic class is forced.
Result<std::optional<std::uint32_t>> parse_global_traffic_class(std::string_view text);

/// True for the all-zero GID that gids/N prints for an empty slot.
bool is_zero_gid(std::string_view text);

/// "0-3,8", as the kernel prints a bitmap (lib/vsprintf.c bitmap_list_string: local_cpulist,
/// smp_affinity_list, node/online, ip_local_reserved_ports). An empty text is an empty set.
Result<NumberList> parse_number_list(std::string_view text);

/// One kind of PCIe error, by the kernel's name for it.
struct AerCount {
  std::string_view error;  ///< "RxErr", "BadTLP", "CmpltTO"; part of the text that was parsed
  std::uint64_t count;
  bool operator==(const AerCount&) const = default;
};

/// One of the files aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal of a PCI function.
struct AerCounters {
  std::vector<AerCount> errors;
  /// Error messages. One message may report several kinds, so it is not the sum of them.
  std::optional<std::uint64_t> messages;
};

/// "RxErr 2\nBadTLP 0\n...\nTOTAL_ERR_COR 2\n" (drivers/pci/pcie/aer.c aer_stats_dev_attr; Linux 4.19). Kinds
/// differ from kernel to kernel, and one without a name is "dev_cor_errs_bit[4]".
Result<AerCounters> parse_aer_counters(std::string_view text);

}  // namespace rdma_exporter::core
