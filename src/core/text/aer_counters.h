// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::core {

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
