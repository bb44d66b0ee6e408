// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/adapter_clock.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t bits(unsigned count) { return ~std::uint64_t{0} >> (64 - count); }

// Masks and frequencies of the kernel's drivers: mlx5/main.c, mlx4/main.c, irdma/verbs.c, zxdh's verbs.
TEST(ProbeAdapterClock, TakesClocksThatOutlastAnOperation) {
  EXPECT_TRUE(usable_clock(bits(63), 1'000'000)) << "mlx5, ConnectX-6 Dx";
  EXPECT_TRUE(usable_clock(bits(63), 156'250)) << "mlx5, ConnectX-4";
  EXPECT_TRUE(usable_clock(bits(48), 427'000)) << "mlx4";
  EXPECT_TRUE(usable_clock(bits(64), 1'000'000));
  EXPECT_TRUE(usable_clock(bits(32), 71'582)) << "60.0 s";
}

TEST(ProbeAdapterClock, RefusesWhatIsNone) {
  EXPECT_FALSE(usable_clock(0, 0)) << "Soft-RoCE";
  EXPECT_FALSE(usable_clock(bits(63), 0)) << "no frequency";
  EXPECT_FALSE(usable_clock(0, 1'000'000)) << "no stamps";
  EXPECT_FALSE(usable_clock(bits(17), 0)) << "irdma";
  EXPECT_FALSE(usable_clock(bits(17), 1'000'000)) << "zxdh: 131 us";
  EXPECT_FALSE(usable_clock(bits(32), 1'000'000)) << "irdma since 6.18: 4.3 s";
  EXPECT_FALSE(usable_clock(bits(32), 71'700)) << "59.9 s";
  EXPECT_FALSE(usable_clock(bits(63) - 1, 1'000'000)) << "a mask with a hole";
}

TEST(ProbeAdapterClock, ConvertsTicksWithoutLosingAny) {
  EXPECT_EQ(elapsed({bits(63), 1'000'000}, 1000, 3345), 2345ns);
  EXPECT_EQ(elapsed({bits(63), 156'250}, 0, 1), 6ns) << "6.4";
  EXPECT_EQ(elapsed({bits(48), 427'000}, 0, 427'000'000), 1s);
  EXPECT_EQ(elapsed({bits(63), 156'250}, 0, 156'250ULL * 1000 * 86'400 + 10), 24h + 64ns);
}

TEST(ProbeAdapterClock, CountsAcrossAWrap) {
  EXPECT_EQ(elapsed({bits(48), 1'000'000}, bits(48) - 99, 900), 1000ns);
  EXPECT_EQ(elapsed({bits(63), 1'000'000}, bits(63), 0), 1ns);
  EXPECT_EQ(elapsed({bits(64), 1'000'000}, bits(64), 0), 1ns);
  EXPECT_EQ(elapsed({bits(48), 1'000'000}, bits(48) - 99, bits(48) + 901), 1000ns)
      << "bits above the mask mean nothing";
}

TEST(ProbeAdapterClock, OverflowsIntoForEver) {
  EXPECT_EQ(wrap({bits(63), 156'250}), std::chrono::nanoseconds::max()) << "1871 years";
  EXPECT_EQ(elapsed({bits(63), 156'250}, 1, 0), std::chrono::nanoseconds::max()) << "a step back";
  EXPECT_EQ(elapsed({bits(64), 1}, 1, 0), std::chrono::nanoseconds::max());
}

TEST(ProbeAdapterClock, RecordsOnlyWhatCanBe) {
  const AdapterClock clock{bits(63), 1'000'000};
  EXPECT_EQ(second_round_trip(clock, 5000, 7000, 4500ns), 2000ns);
  EXPECT_EQ(second_round_trip(clock, bits(63) - 999, 1000, 4500ns), 2000ns);
  EXPECT_EQ(second_round_trip(clock, 5000, 5000, 4500ns), std::nullopt) << "a clock that stands still";
  EXPECT_EQ(second_round_trip(clock, 5000, 4999, 4500ns), std::nullopt) << "a step back";
  EXPECT_EQ(second_round_trip(clock, 5000, 9501, 4500ns), std::nullopt) << "longer than both of them";
  const AdapterClock narrow{bits(36), 1'000'000};  // 68.7 s
  EXPECT_EQ(second_round_trip(narrow, 0, 2000, 69s), std::nullopt) << "or one wrap more";
}

}  // namespace
}  // namespace rdma_exporter::probe
