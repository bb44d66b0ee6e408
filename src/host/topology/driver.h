// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>

namespace rdma_exporter::host {

/// Families of RDMA drivers whose counter names and quirks are known. Never derived from the device's name:
/// udev renames devices (rocep59s0f0), people do too.
enum class Driver : std::uint8_t {
  unknown,
  mlx5,
  mlx4,
  bnxt_re,
  irdma,
  efa,
  erdma,
  hns,
  mana,
  ionic,
  hfi1,
  qib,
  cxgb4,
  qedr,
  ocrdma,
  mthca,
  usnic,
  vmw_pvrdma,
  rxe,
  siw
};
inline constexpr std::uint8_t kDrivers = static_cast<std::uint8_t>(Driver::siw) + 1;

/// The family for the name of the driver bound to the PCI (or auxiliary) parent: "mlx5_core" and
/// "mlx5_core.sf" are mlx5, "ice" and "i40e" are irdma, "bnxt_en" is bnxt_re. unknown for any other.
Driver driver_from_parent(std::string_view parent_driver);

/// The family for the text of a device's attribute hca_type: "MT4129" is mlx5, "cxgb4" is cxgb4. unknown
/// where drivers print other texts, or have no such attribute.
Driver driver_from_hca_type(std::string_view hca_type);

/// "mlx5", "bnxt_re", ... as in docs and log lines.
std::string_view to_string(Driver driver);

}  // namespace rdma_exporter::host
