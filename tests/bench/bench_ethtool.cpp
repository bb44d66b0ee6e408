// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A host with 8 interfaces of 3,000 driver statistics each: the cost of one scrape of the collector, compared
// with the two ioctls that every reader of ethtool -S needs. There are two model kernels: one does what
// net/ethtool/ioctl.c and mlx5 do (fresh zeroed memory, names formatted one by one, a copy to the caller; no
// firmware). The other only copies prepared answers, which no kernel does, and thus shows the collector's own
// share.
#include <benchmark/benchmark.h>
#include <linux/ethtool.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectors/collector_set.h"
#include "config/config.h"
#include "tests/unit/support/fake_ethtool.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::collectors {
extern const CollectorSpec ethtool_spec;
}

namespace {

using namespace rdma_exporter;

constexpr std::size_t kInterfaces = 8;
constexpr std::size_t kStatistics = 3'000;

struct Nic {
  std::vector<std::string> formats;  ///< of names; "%zu" is the ring
  std::vector<std::size_t> rings;
  std::string names;  ///< finished
  std::vector<std::uint64_t> values;
};

Nic make_nic() {
  Nic nic;
  for (const std::string& name : test::listed_interface("mlx5").names) {
    nic.formats.push_back(name);
    nic.rings.push_back(0);
  }
  while (nic.formats.size() < kStatistics) {
    nic.formats.emplace_back("rx%zu_cache_recycled_pages");
    nic.rings.push_back(nic.formats.size());
  }
  nic.formats.resize(kStatistics);
  nic.values.assign(kStatistics, 12345);
  return nic;
}

void format_names(const Nic& nic, char* to) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  for (std::size_t i = 0; i < kStatistics; ++i)
    std::snprintf(to + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, nic.formats[i].c_str(), nic.rings[i]);
#pragma GCC diagnostic pop
}

class Kernel : public host::Ethtool {
 public:
  explicit Kernel(bool finished) : finished_(finished), nics_(kInterfaces, make_nic()) {
    for (Nic& nic : nics_) {
      nic.names.resize(kStatistics * ETH_GSTRING_LEN);
      format_names(nic, nic.names.data());
    }
  }

  core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) override {
    Nic& nic = nics_[static_cast<std::size_t>(netdev.back() - '0')];
    std::uint32_t command = 0;
    std::memcpy(&command, buffer.data(), sizeof command);
    switch (command) {
      case ETHTOOL_GSTRINGS:
        return give(buffer.data() + sizeof(ethtool_gstrings), nic.names.data(), nic.names.size(),
                    [&](char* to) { format_names(nic, to); });
      case ETHTOOL_GSTATS:
        ++nic.values[7];
        return give(
            buffer.data() + sizeof(ethtool_stats), nic.values.data(), kStatistics * sizeof(std::uint64_t),
            [&](char* to) { std::memcpy(to, nic.values.data(), kStatistics * sizeof(std::uint64_t)); });
      case ETHTOOL_GSSET_INFO:
        std::memcpy(buffer.data() + sizeof(ethtool_sset_info), &kCount, sizeof kCount);
        return {};
      default:
        return core::os_error(EOPNOTSUPP);
    }
  }

 private:
  static constexpr auto kCount = static_cast<std::uint32_t>(kStatistics);

  template <typename Make>
  core::Result<void> give(std::byte* to, const void* finished, std::size_t size, Make make) const {
    if (finished_) {
      std::memcpy(to, finished, size);
    } else {
      const std::unique_ptr<char[]> fresh(new char[size]());  // NOLINT(*-avoid-c-arrays): vzalloc()
      make(fresh.get());
      std::memcpy(to, fresh.get(), size);
    }
    return {};
  }

  const bool finished_;
  std::vector<Nic> nics_;
};

void bare_ioctls(benchmark::State& state) {
  Kernel kernel(state.range(0) != 0);
  std::vector<std::byte> names(sizeof(ethtool_gstrings) + kStatistics * ETH_GSTRING_LEN);
  std::vector<std::byte> values(sizeof(ethtool_stats) + kStatistics * sizeof(std::uint64_t));
  const auto ask = [&](const std::string& netdev, std::uint32_t command, std::vector<std::byte>& answer) {
    std::memcpy(answer.data(), &command, sizeof command);
    benchmark::DoNotOptimize(kernel.execute(netdev, answer).has_value());
  };
  for (auto _ : state) {
    for (std::size_t i = 0; i < kInterfaces; ++i) {
      const std::string netdev = "eth" + std::to_string(i);
      ask(netdev, ETHTOOL_GSTRINGS, names);
      ask(netdev, ETHTOOL_GSTATS, values);
    }
  }
}
BENCHMARK(bare_ioctls)->Arg(0)->Arg(1)->ArgName("finished_answers");

/// The collector on such a host.
class Scraped {
 public:
  Scraped(bool finished_answers, std::chrono::milliseconds interval) {
    for (std::size_t i = 0; i < kInterfaces; ++i) {
      const std::string n = std::to_string(i);
      tree_.write("class/infiniband/mlx5_" + n + "/ports/1/gid_attrs/ndevs/0", "eth" + n + "\n");
      tree_.link("../../../../bus/pci/drivers/mlx5_core", "class/net/eth" + n + "/device/driver");
    }
    host_.sysfs = host::make_host_fs(tree_.root());
    host_.ethtool = std::make_unique<Kernel>(finished_answers);
    context_.ethtool.interval = interval;
    const config::EthtoolConfig defaults;
    context_.ethtool.raw_include = defaults.raw_include;
    context_.ethtool.raw_exclude = defaults.raw_exclude;
    (void)set_.refresh();
    // Until the names are trusted.
    for (int i = 0; i < 40; ++i) scrape();
  }
  void scrape() {
    for (const auto& job : set_.jobs()) {
      run_.reset(1);
      job->run(run_);
      benchmark::DoNotOptimize(run_.samples().size());
    }
  }
  std::size_t series() const { return run_.samples().size(); }

 private:
  test::TempTree tree_;
  host::Host host_;
  collectors::Context context_{host_};
  const collectors::CollectorSpec* spec_ = &collectors::ethtool_spec;
  collectors::CollectorSet set_{context_, {&spec_, 1}, [](const std::string&) { return true; }};
  core::JobRun run_{1};
};

void ethtool_scrape(benchmark::State& state) {
  Scraped host(state.range(0) != 0, std::chrono::milliseconds(0));
  for (auto _ : state) host.scrape();
  state.counters["series_per_interface"] = static_cast<double>(host.series());
}
BENCHMARK(ethtool_scrape)->Arg(0)->Arg(1)->ArgName("finished_answers");

void ethtool_scrape_within_the_interval(benchmark::State& state) {
  Scraped host(false, std::chrono::hours(1));
  for (auto _ : state) host.scrape();
}
BENCHMARK(ethtool_scrape_within_the_interval);

}  // namespace
