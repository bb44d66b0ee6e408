// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

namespace rdma_exporter::facts {

/// Whether a PCI function with this driver is passed through to a virtual machine or a program in user space.
inline bool is_passed_through(std::string_view driver) {
  return driver == "vfio-pci" || driver == "uio_pci_generic";
}

}  // namespace rdma_exporter::facts
