// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/job_report.h"

#include <gtest/gtest.h>

#include "core/exposition/page_writer.h"

namespace rdma_exporter::scrape {
namespace {

using namespace std::chrono_literals;

class IdleJob : public core::Job {
 public:
  using Job::Job;
  void run(core::JobRun& /*run*/) override {}
};

Slot make_slot(std::string_view collector, std::string device, std::string netdev = {}) {
  return Slot({std::make_shared<IdleJob>(collector, std::move(device), std::move(netdev)), 5s});
}

std::string page(const JobReport& report) {
  core::SampleBatch batch;
  report.write(batch);
  const core::SampleBatch* batches[] = {&batch};
  std::string page;
  core::write_text(JobReport::families(), batches, page);
  std::string samples;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = page.find('\n', at);
    if (page[at] != '#') samples += page.substr(at, end - at + 1);
    at = end + 1;
  }
  return samples;
}

TEST(JobReport, SaysByCollectorThatAllIsWell) {
  const JobReport::Totals timeouts;
  JobReport report(timeouts);
  report.add(make_slot("port", "mlx5_0"), Outcome::done, true, 1500ms);
  report.add(make_slot("port", "mlx5_1"), Outcome::done, true, 500ms);
  EXPECT_EQ(page(report),
            "rdma_exporter_collector_success{collector=\"port\"} 1\n"
            "rdma_exporter_collector_duration_seconds{collector=\"port\"} 2\n"
            "rdma_exporter_collector_timeouts_total{collector=\"port\"} 0\n");
}

TEST(JobReport, NamesTheDevicesThatAreMissingAndWhy) {
  const JobReport::Totals timeouts{{"port", 3}};
  JobReport report(timeouts);
  report.add(make_slot("port", "mlx5_0"), Outcome::done, true, 0s);
  report.add(make_slot("port", "mlx5_1"), Outcome::late, false, 0s);
  report.add(make_slot("port", "mlx5_2"), Outcome::busy, false, 0s);
  report.add(make_slot("port", "mlx5_3"), Outcome::back_off, false, 0s);
  report.add(make_slot("port", "mlx5_4"), Outcome::pending, false, 0s);
  report.add(make_slot("port", "mlx5_5"), Outcome::done, false, 0s);
  EXPECT_EQ(page(report),
            "rdma_exporter_collector_success{collector=\"port\"} 0\n"
            "rdma_exporter_collector_duration_seconds{collector=\"port\"} 0\n"
            "rdma_exporter_collector_timeouts_total{collector=\"port\"} 3\n"
            "rdma_exporter_collector_failing{collector=\"port\",device=\"mlx5_1\",reason=\"late\"} 1\n"
            "rdma_exporter_collector_failing{collector=\"port\",device=\"mlx5_2\",reason=\"busy\"} 1\n"
            "rdma_exporter_collector_failing{collector=\"port\",device=\"mlx5_3\",reason=\"back_off\"} 1\n"
            "rdma_exporter_collector_failing{collector=\"port\",device=\"mlx5_4\",reason=\"not_started\"} 1\n"
            "rdma_exporter_collector_failing{collector=\"port\",device=\"mlx5_5\",reason=\"failed\"} 1\n");
}

// Two members of a bond are interfaces of one device: their errors are one series.
TEST(JobReport, AddsUpTheErrorsOfTheInterfacesOfADevice) {
  Slot slots[] = {make_slot("ethtool", "mlx5_bond_0", "eth0"), make_slot("ethtool", "mlx5_bond_0", "eth1")};
  core::JobRun run(1);
  run.count_read_error("EIO");
  run.count_dropped("series_per_device", 7);
  const JobReport::Totals timeouts;
  JobReport report(timeouts);
  for (Slot& slot : slots) {
    slot.fold(run);
    report.add(slot, Outcome::done, true, 0s);
  }
  const std::string text = page(report);
  const std::string of = R"({collector="ethtool",device="mlx5_bond_0",reason=")";
  EXPECT_NE(text.find("rdma_exporter_read_errors_total" + of + "EIO\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("rdma_exporter_series_dropped_total" + of + "series_per_device\"} 14\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace rdma_exporter::scrape
