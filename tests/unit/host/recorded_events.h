// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Recorded notifications of a kernel (tests/unit/data/events/ORIGIN.md).
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace rdma_exporter::test {

inline std::vector<std::byte> recorded_event(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/tests/unit/data/events/" + name + ".bin", std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  std::vector<std::byte> bytes;
  for (auto it = std::istreambuf_iterator<char>(file); it != std::istreambuf_iterator<char>(); ++it)
    bytes.push_back(static_cast<std::byte>(*it));
  return bytes;
}

}  // namespace rdma_exporter::test
