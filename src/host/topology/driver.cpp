// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/driver.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace rdma_exporter::host {
namespace {

struct Parent {
  std::string_view name;
  Driver driver;
};

// Names of PCI drivers (struct pci_driver.name) and of auxiliary drivers an RDMA device can hang below.
constexpr std::array kParents{
    Parent{"mlx5_core", Driver::mlx5},
    Parent{"mlx5_core.sf", Driver::mlx5},  // scalable functions: auxiliary devices
    Parent{"mlx4_core", Driver::mlx4},
    Parent{"bnxt_en", Driver::bnxt_re},
    Parent{"ice", Driver::irdma},
    Parent{"i40e", Driver::irdma},
    Parent{"idpf", Driver::irdma},  // third generation, 6.18
    Parent{"iavf", Driver::irdma},  // virtual functions of the out-of-tree driver
    Parent{"efa", Driver::efa},
    Parent{"erdma", Driver::erdma},
    Parent{"hns3", Driver::hns},
    Parent{"mana", Driver::mana},
    Parent{"ionic", Driver::ionic},
    Parent{"hfi1", Driver::hfi1},
    Parent{"ib_qib", Driver::qib},
    Parent{"cxgb4", Driver::cxgb4},
    Parent{"qede", Driver::qedr},
    Parent{"be2net", Driver::ocrdma},
    Parent{"ib_mthca", Driver::mthca},
    Parent{"usnic_verbs", Driver::usnic},
    Parent{"vmw_pvrdma", Driver::vmw_pvrdma},
};

// In the order of the enumeration.
constexpr std::array<std::string_view, 20> kNames{
    "unknown", "mlx5", "mlx4",  "bnxt_re", "irdma",  "efa",   "erdma", "hns",        "mana", "ionic",
    "hfi1",    "qib",  "cxgb4", "qedr",    "ocrdma", "mthca", "usnic", "vmw_pvrdma", "rxe",  "siw"};
static_assert(kNames.size() == static_cast<std::size_t>(Driver::siw) + 1);
static_assert(kNames[static_cast<std::size_t>(Driver::hfi1)] == "hfi1");

}  // namespace

Driver driver_from_parent(std::string_view parent_driver) {
  const auto it = std::find_if(kParents.begin(), kParents.end(),
                               [&](const Parent& parent) { return parent.name == parent_driver; });
  return it != kParents.end() ? it->driver : Driver::unknown;
}

// "MT" and the PCI device identifier in decimal (hw/mlx4/main.c, hw/mlx5/main.c hca_type_show). ConnectX-3
// ends at 4112 (mlx4_core's PCI table: 0x1010), Connect-IB begins at 4113, BlueField at 41682, each with room
// for later ones; the older adapters of mlx4 have 25408 to 26478, and mthca has the chips below.
Driver driver_from_hca_type(std::string_view hca_type) {
  if (hca_type == "cxgb4") return Driver::cxgb4;
  if (!hca_type.starts_with("MT")) return Driver::unknown;
  hca_type.remove_prefix(2);
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(hca_type.data(), hca_type.data() + hca_type.size(), id);
  if (error != std::errc{}) return Driver::unknown;
  if (id == 23108 || id == 25204 || id == 25208) return Driver::mthca;
  if (end != hca_type.data() + hca_type.size()) return Driver::unknown;
  if ((id >= 4098 && id <= 4112) || (id >= 25408 && id <= 26478)) return Driver::mlx4;
  return (id >= 4113 && id < 5000) || (id >= 41682 && id < 42000) ? Driver::mlx5 : Driver::unknown;
}

std::string_view to_string(Driver driver) {
  const auto index = static_cast<std::size_t>(driver);
  return index < kNames.size() ? kNames[index] : kNames.front();
}

}  // namespace rdma_exporter::host
