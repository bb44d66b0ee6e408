// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/process_metrics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/fs/fd.h"

namespace rdma_exporter::app {
namespace {

// The file of a real process with another name; field 22 counts.
std::string stat_line(const std::string& name) {
  return "4242 (" + name +
         ") S 1 4242 4242 0 -1 4194560 5000 0 0 0 321 123 0 0 20 0 7 0 987654 1073741824 2048 "
         "18446744073709551615 1 "
         "1 0 0 0 0 0 4096 81920 0 0 0 17 1 0 0 0 0 0\n";
}

std::map<std::string, double> collect(ProcessMetrics& metrics) {
  core::SampleBatch batch;
  metrics.add(batch);
  std::map<std::string, double> all;
  for (const core::Sample& sample : batch.samples())
    all[std::string(sample.metric->name)] =
        sample.is_real ? sample.real : static_cast<double>(sample.integer);
  EXPECT_EQ(all.size(), batch.size());
  return all;
}

TEST(ParseStartTicks, ReadsTheFieldWhateverTheProcessIsCalled) {
  for (const char* name : {"rdma_exporter", "a b", ") R 9 9 9 9", "((", "", ")"})
    EXPECT_EQ(parse_start_ticks(stat_line(name)), 987654U) << name;
}

TEST(ParseStartTicks, RefusesWhatIsCut) {
  for (const char* text : {"", "4242", "4242 (x", "4242 (x)", "4242 (x) S 1 2 3"})
    EXPECT_FALSE(parse_start_ticks(text).has_value()) << text;
}

// Resident pages and all, of /proc/self/statm.
std::pair<double, double> pages() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return {all, resident};
}

TEST(ProcessMetrics, TellsOfThisProcess) {
  ProcessMetrics metrics;
  const auto all = collect(metrics);
  EXPECT_EQ(all.size(), ProcessMetrics::families().size());
  rusage used{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
  const double cpu = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  EXPECT_NEAR(all.at("process_cpu_seconds_total"), cpu, 0.1);
  const auto [virtual_pages, resident_pages] = pages();
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  EXPECT_NEAR(all.at("process_resident_memory_bytes"), resident_pages * page, resident_pages * page / 4);
  EXPECT_NEAR(all.at("process_virtual_memory_bytes"), virtual_pages * page, virtual_pages * page / 4);
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_EQ(all.at("process_max_fds"), static_cast<double>(files.rlim_cur));
  const double age = static_cast<double>(std::time(nullptr)) - all.at("process_start_time_seconds");
  EXPECT_GE(age, -2);
  EXPECT_LT(age, 600) << "started when this test did";
}

// A thread that an earlier test joined may still be listed for a moment, so the kernel's own list is read
// around each collection until it says the same before and after.
double threads_listed() {
  using Listing = std::filesystem::directory_iterator;
  return static_cast<double>(std::distance(Listing("/proc/self/task"), Listing()));
}

TEST(ProcessMetrics, CountsThreads) {
  ProcessMetrics metrics;
  std::promise<void> end;
  std::thread waiting([ended = end.get_future()] { ended.wait(); });
  double before = 0;
  double counted = 0;
  do {
    before = threads_listed();
    counted = collect(metrics).at("process_threads");
  } while (before != threads_listed());
  EXPECT_EQ(counted, before);
  EXPECT_GE(counted, 2);
  end.set_value();
  waiting.join();
}

// Most of what the exporter does is reading files, which is the kernel's time.
TEST(ProcessMetrics, SeesTheTimeInTheKernel) {
  ProcessMetrics metrics;
  const double before = collect(metrics).at("process_cpu_seconds_total");
  const auto in_kernel = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_stime.tv_sec) + static_cast<double>(used.ru_stime.tv_usec) * 1e-6;
  };
  const double start = in_kernel();
  std::vector<char> zeros(1 << 20);
  const host::Fd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  while (in_kernel() - start < 0.2) ASSERT_GT(::read(zero.get(), zeros.data(), zeros.size()), 0);
  EXPECT_GE(collect(metrics).at("process_cpu_seconds_total") - before, 0.15);
}

TEST(ProcessMetrics, CountsOpenFiles) {
  const auto open_now = [] {
    ProcessMetrics metrics;  // anew, because a kernel before 6.2 is asked only now and then
    return collect(metrics).at("process_open_fds");
  };
  const double open = open_now();
  const host::Fd one(::dup(0));
  const host::Fd two(::dup(0));
  ASSERT_TRUE(two.valid());
  EXPECT_EQ(open_now(), open + 2);
}

TEST(ProcessMetrics, SeesTheCpuTimeThatEachThreadUses) {
  ProcessMetrics metrics;
  const double before = collect(metrics).at("process_cpu_seconds_total");
  std::thread([] {
    const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 10;
    while (std::clock() < until) {
    }
  }).join();
  const double used = collect(metrics).at("process_cpu_seconds_total") - before;
  EXPECT_GE(used, 0.05);
  EXPECT_LT(used, 5);
}

}  // namespace
}  // namespace rdma_exporter::app
