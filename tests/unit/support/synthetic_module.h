// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Synthetic memories of modules: bytes at the offsets of SFF-8472 rev 12.4, SFF-8636 rev 2.11 and CMIS 5.2.
// They were not read from a module.
#pragma once

#include <cstdint>

#include "tests/unit/support/module_memory.h"

namespace rdma_exporter::test {

/// 100G-SR4: four lanes, third lane's receiver at a tenth of the others.
inline ModuleMemory qsfp28_sr4() {
  using M = ModuleMemory;
  ModuleMemory m;
  m.u8(M::lower(0), 0x11);
  m.u8(M::lower(1), 0x07);
  m.u16(M::lower(22), 0x1f80);                  // 31.5 C
  m.u16(M::lower(26), 33012);                   // 3.3012 V
  m.u16s(M::lower(34), {8000, 8200, 800, 0});   // 0.8 mW, 0.82 mW, 0.08 mW, dark
  m.u16s(M::lower(42), {3750, 3750, 3800, 0});  // 7.5 mA, 7.5 mA, 7.6 mA, off
  m.u16s(M::lower(50), {9000, 9100, 9200, 0});
  m.u8(M::page(0, 128), 0x11);
  m.u8(M::page(0, 130), 0x0c);  // MPO 1x12
  m.u8(M::page(0, 146), 50);    // OM4 reach: no length of a cable
  m.u8(M::page(0, 147), 0x00);  // 850 nm VCSEL
  m.text(M::page(0, 148), "EXAMPLE OPTICS", 16);
  m.text(M::page(0, 168), "EX-100G-SR4", 16);
  m.text(M::page(0, 184), "A1", 2);
  m.text(M::page(0, 196), "EX123456", 16);
  m.u8(M::page(0, 220), 0x0c);                                // average, transmit power
  m.u16s(M::page(3, 128), {0x4b00, 0xfb00, 0x4600, 0x0000});  // 75, -5, 70, 0 C
  m.u16s(M::page(3, 144), {36300, 29700, 34650, 31350});
  m.u16s(M::page(3, 176), {21878, 407, 17378, 513});
  m.u16s(M::page(3, 184), {5000, 500, 4500, 1000});
  m.u16s(M::page(3, 192), {21878, 0, 17378, 0xffff});
  return m;
}

/// A passive copper cable of 3 m: memory without pages and without monitors.
inline ModuleMemory qsfp28_copper() {
  using M = ModuleMemory;
  ModuleMemory m;
  m.u8(M::lower(0), 0x11);
  m.u8(M::lower(2), 0x04);
  m.u8(M::page(0, 128), 0x11);
  m.u8(M::page(0, 130), 0x23);
  m.u8(M::page(0, 146), 3);
  m.u8(M::page(0, 147), 0xa0);
  m.text(M::page(0, 148), "EXAMPLE CABLES", 16);
  m.text(M::page(0, 168), "EX-DAC-3M", 16);
  m.text(M::page(0, 196), "C-77", 16);
  return m;
}

/// 400G-DR4 in a QSFP-DD: lanes 1 to 4 of 8, bias in steps of 4 uA.
inline ModuleMemory qsfp_dd_dr4() {
  using M = ModuleMemory;
  ModuleMemory m;
  m.u8(M::lower(0), 0x18);
  m.u8(M::lower(1), 0x50);
  m.u8(M::lower(3), 0x06);
  m.u16(M::lower(14), 0x3280);  // 50.5 C
  m.u16(M::lower(16), 32980);
  m.u8(M::page(0, 128), 0x18);
  m.text(M::page(0, 129), "EXAMPLE OPTICS", 16);
  m.text(M::page(0, 148), "EX-400G-DR4", 16);
  m.text(M::page(0, 164), "02", 2);
  m.text(M::page(0, 166), "DD0042", 16);
  m.u8(M::page(0, 203), 0x0c);
  m.u8(M::page(0, 210), 0xf0);  // lanes 5 to 8 do not exist
  m.u8(M::page(0, 212), 0x04);  // 1310 nm DFB
  m.u8(M::page(1, 151), 0x10);
  m.u8(M::page(1, 159), 0x03);
  m.u8(M::page(1, 160), 0x0f);  // bias x 2, transmit and receive power
  m.u16s(M::page(2, 128), {0x4b00, 0xfb00, 0x4600, 0x0000});
  m.u16s(M::page(2, 136), {34650, 31350, 33660, 32340});
  m.u16s(M::page(2, 176), {63096, 1000, 50119, 1259});
  m.u16s(M::page(2, 184), {25000, 5000, 22500, 7500});
  m.u16s(M::page(2, 192), {63096, 500, 50119, 631});
  m.u16s(M::page(0x11, 154), {12000, 12100, 12200, 12300, 0, 0, 0, 0});
  m.u16s(M::page(0x11, 170), {15000, 15100, 15200, 15300, 0, 0, 0, 0});
  m.u16s(M::page(0x11, 186), {11000, 11100, 11200, 11300, 0, 0, 0, 0});
  return m;
}

/// 25G-SR in an SFP28. `external`: what it measures has to be calibrated.
inline ModuleMemory sfp28_sr(bool external = false) {
  using M = ModuleMemory;
  ModuleMemory m;
  m.u8(M::lower(0), 0x03);
  m.u8(M::lower(2), 0x07);  // LC
  m.text(M::lower(20), "EXAMPLE OPTICS", 16);
  m.text(M::lower(40), "EX-25G-SR", 16);
  m.text(M::lower(56), "B", 4);
  m.text(M::lower(68), "S25-9", 16);
  m.u8(M::lower(92), external ? 0x58 : 0x68);
  m.u16s(M::a2(0), {0x5000, 0xf600, 0x4b00, 0xfb00});
  m.u16s(M::a2(8), {36300, 29700, 34650, 31350});
  m.u16s(M::a2(16), {6000, 1000, 5500, 1500});
  m.u16s(M::a2(24), {17378, 1047, 13804, 1318});
  m.u16s(M::a2(32), {17378, 407, 13804, 513});
  m.real(M::a2(68), external ? 0.5F : 1.0F);                  // Rx: c1
  m.real(M::a2(72), external ? 10.0F : 0.0F);                 // Rx: c0
  m.u16s(M::a2(76), {external ? 0x0200U : 0x0100U, 0});       // bias
  m.u16s(M::a2(80), {external ? 0x0180U : 0x0100U, 0xff9c});  // transmit power: - 100
  m.u16s(M::a2(84), {0x0100, external ? 0x0200U : 0U});       // temperature: + 2 C
  m.u16s(M::a2(88), {0x0100, 0});
  m.u16s(M::a2(96), {0xf680, 33000, 3000, 6000, 5000});  // -9.5 C, 3.3 V, 6 mA, 0.6 mW, 0.5 mW
  return m;
}

}  // namespace rdma_exporter::test
