// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rdma_exporter::test {

/// An LLDP frame, synthetic: fields where IEEE 802.1AB-2016, clause 8, has them.
class LldpFrame {
 public:
  /// Destination "nearest bridge", a source, the Ethernet type.
  LldpFrame() : bytes_("\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc", 14) {}

  LldpFrame& tlv(unsigned type, std::string_view value) {
    bytes_ += static_cast<char>(type << 1U | value.size() >> 8U);
    bytes_ += static_cast<char>(value.size() & 0xffU);
    bytes_ += value;
    return *this;
  }
  LldpFrame& chassis(char subtype, std::string_view value) { return tlv(1, subtype + std::string(value)); }
  LldpFrame& port(char subtype, std::string_view value) { return tlv(2, subtype + std::string(value)); }
  LldpFrame& ttl(unsigned seconds) {
    const std::array<char, 2> value{static_cast<char>(seconds >> 8U), static_cast<char>(seconds & 0xffU)};
    return tlv(3, {value.data(), value.size()});
  }
  LldpFrame& end() { return tlv(0, ""); }

  std::vector<std::byte> bytes() const {
    const auto* begin = reinterpret_cast<const std::byte*>(bytes_.data());
    return {begin, begin + bytes_.size()};
  }

 private:
  std::string bytes_;
};

/// As a switch of a fabric sends it.
inline LldpFrame leaf_frame(std::string_view port = "Ethernet1/7", unsigned ttl = 120,
                            std::string_view system = "leaf-a12") {
  LldpFrame frame;
  frame.chassis(4, std::string_view("\x44\x38\x39\x00\x00\x12", 6)).port(5, port).ttl(ttl);
  frame.tlv(4, "to gpu-17 mlx5_0").tlv(5, system).tlv(6, "Switch OS 5.9");
  frame.tlv(8, std::string_view("\x05\x01\x0a\x00\x00\x0c\x02\x00\x00\x00\x01\x00", 12)).end();
  return frame;
}

}  // namespace rdma_exporter::test
