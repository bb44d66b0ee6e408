// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/process_metrics.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <string>

namespace rdma_exporter::app {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kCpu{"process_cpu_seconds_total",
                          MetricType::counter,
                          "",
                          "seconds",
                          "CPU time used by the exporter, user and system, in seconds",
                          "/proc/self/stat utime, stime"};
constexpr MetricDesc kResident{"process_resident_memory_bytes",
                               MetricType::gauge,
                               "",
                               "bytes",
                               "Resident memory of the exporter in bytes",
                               "/proc/self/stat rss"};
constexpr MetricDesc kVirtual{
    "process_virtual_memory_bytes", MetricType::gauge, "", "bytes", "Virtual memory of the exporter in bytes",
    "/proc/self/stat vsize"};
constexpr MetricDesc kStart{"process_start_time_seconds",
                            MetricType::gauge,
                            "",
                            "seconds",
                            "Time at which the exporter started, in seconds since 1970",
                            "/proc/self/stat starttime"};
constexpr MetricDesc kThreads{"process_threads",
                              MetricType::gauge,
                              "",
                              "threads",
                              "Number of threads of the exporter",
                              "/proc/self/stat num_threads"};
constexpr MetricDesc kOpenFiles{"process_open_fds",
                                MetricType::gauge,
                                "",
                                "files",
                                "Number of open file descriptors, including sysfs files kept open",
                                "/proc/self/fd"};
constexpr MetricDesc kMaxFiles{
    "process_max_fds",        MetricType::gauge, "", "files", "Limit of open file descriptors",
    "getrlimit RLIMIT_NOFILE"};

constexpr std::array kFamilies{&kCpu, &kResident, &kVirtual, &kStart, &kThreads, &kOpenFiles, &kMaxFiles};
static_assert(core::all_valid(std::array{kCpu, kResident, kVirtual, kStart, kThreads, kOpenFiles,
                                         kMaxFiles}));

// Counting by listing costs a system call per few hundred files.
constexpr std::chrono::seconds kCountInterval{15};

double seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// When the system booted, in seconds since the epoch.
double boot_time() { return seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME); }

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // Field 2 is the name in parentheses and may hold blanks and parentheses itself; field 3 follows the last
  // one.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  std::array<std::uint64_t, 25> fields{};  // fields[n] is field n; fields 3 to 24
  for (std::size_t n = 3; n < fields.size(); ++n) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find(' '), text.size());
    std::from_chars(text.data(), text.data() + length, fields[n]);
    text.remove_prefix(length);
  }
  return ProcessStat{fields[14], fields[15], fields[20], fields[22], fields[23], fields[24]};
}

ProcessMetrics::ProcessMetrics() : proc_(host::make_host_fs("/proc")), boot_time_(boot_time()) {
  if (auto file = proc_->open("self/stat")) stat_ = std::move(*file);
  fd_list_ = host::Fd(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void ProcessMetrics::add(core::SampleBatch& out) {
  std::array<char, 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = stat_ ? stat_->read(buffer) : core::os_error(ENOENT);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (stat) {
    static const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    static const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    out.add(kCpu, {}, static_cast<double>(stat->user_ticks + stat->system_ticks) / ticks_per_second);
    out.add(kResident, {}, stat->resident_pages * page_size);
    out.add(kVirtual, {}, stat->virtual_bytes);
    out.add(kStart, {}, boot_time_ + static_cast<double>(stat->start_ticks) / ticks_per_second);
    out.add(kThreads, {}, stat->threads);
  }
  add_open_files(out);
}

void ProcessMetrics::add_open_files(core::SampleBatch& out) {
  // Since Linux 6.2 the size of the directory is the number of open files.
  struct stat info {};
  const bool counted_by_kernel = ::fstat(fd_list_.get(), &info) == 0 && info.st_size > 0;
  const auto now = std::chrono::steady_clock::now();
  if (counted_by_kernel) {
    open_files_ = static_cast<std::uint64_t>(info.st_size);
  } else if (now - open_files_counted_ > kCountInterval) {
    const auto files = proc_->list("self/fd");
    open_files_ = files ? std::optional<std::uint64_t>(files->size()) : std::nullopt;
    open_files_counted_ = now;
  }
  if (open_files_) out.add(kOpenFiles, {}, *open_files_);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) out.add(kMaxFiles, {}, std::uint64_t{limit.rlim_cur});
}

std::span<const MetricDesc* const> ProcessMetrics::families() { return kFamilies; }

}  // namespace rdma_exporter::app
