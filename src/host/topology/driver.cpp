// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/driver.h"

#include <algorithm>
#include <array>
#include <cstddef>

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

std::string_view to_string(Driver driver) {
  const auto index = static_cast<std::size_t>(driver);
  return index < kNames.size() ? kNames[index] : kNames.front();
}

}  // namespace rdma_exporter::host
