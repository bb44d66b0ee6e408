// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

namespace rdma_exporter::doctor {

/// Whether a PCI function with this driver is for a virtual machine or a program in user space.
inline bool is_handed_over(std::string_view driver) {
  return driver == "vfio-pci" || driver == "uio_pci_generic";
}

}  // namespace rdma_exporter::doctor
