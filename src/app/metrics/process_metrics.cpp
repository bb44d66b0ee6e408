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
#include <utility>

namespace rdma_exporter::app {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kCpu{"process_cpu_seconds_total",
                          MetricType::counter,
                          "",
                          "seconds",
                          "CPU time used by the exporter, user and system, in seconds",
                          "clock_gettime CLOCK_PROCESS_CPUTIME_ID"};
constexpr MetricDesc kResident{"process_resident_memory_bytes",
                               MetricType::gauge,
                               "",
                               "bytes",
                               "Resident memory of the exporter in bytes",
                               "/proc/self/statm resident"};
constexpr MetricDesc kVirtual{
    "process_virtual_memory_bytes", MetricType::gauge, "", "bytes", "Virtual memory of the exporter in bytes",
    "/proc/self/statm size"};
constexpr MetricDesc kStart{"process_start_time_seconds",
                            MetricType::gauge,
                            "",
                            "seconds",
                            "Time at which the exporter started, in seconds since 1970",
                            "/proc/self/stat starttime"};
constexpr MetricDesc kThreads{
    "process_threads", MetricType::gauge, "", "threads", "Number of threads of the exporter",
    "/proc/self/task"};
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

// Of a directory of this process. It is kept open: to look it up costs five times as much as to ask it.
host::Fd open_directory(const char* path) {
  return host::Fd(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

struct ::stat status_of(const host::Fd& directory) {
  struct ::stat info {};
  if (::fstat(directory.get(), &info) != 0) info = {};
  return info;
}

// The first two numbers of /proc/PID/statm: all pages, and those in memory.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_pages(std::string_view text) {
  std::pair<std::uint64_t, std::uint64_t> pages;
  const char* const end = text.data() + text.size();
  const auto all = std::from_chars(text.data(), end, pages.first);
  if (all.ec != std::errc{} || all.ptr == end) return std::nullopt;
  const auto resident = std::from_chars(all.ptr + 1, end, pages.second);
  return resident.ec == std::errc{} ? std::optional(pages) : std::nullopt;
}

std::optional<double> start_time(host::HostFs& proc) {
  const auto text = proc.read("self/stat");
  const auto ticks = text ? parse_start_ticks(*text) : std::nullopt;
  if (!ticks) return std::nullopt;
  return boot_time() + static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::optional<std::uint64_t> parse_start_ticks(std::string_view text) {
  // Field 2 is the name in parentheses and may hold blanks and parentheses itself; field 3 follows the last
  // one.
  constexpr int kStartField = 22;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  for (int field = 3; field <= kStartField; ++field) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    text.remove_prefix(begin);
    if (field < kStartField) text.remove_prefix(std::min(text.find(' '), text.size()));
  }
  std::uint64_t ticks = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), ticks);
  return parsed.ec == std::errc{} ? std::optional(ticks) : std::nullopt;
}

ProcessMetrics::ProcessMetrics()
    : proc_(host::make_host_fs("/proc")),
      fd_list_(open_directory("/proc/self/fd")),
      task_list_(open_directory("/proc/self/task")),
      start_time_(start_time(*proc_)) {
  if (auto file = proc_->open("self/statm")) statm_ = std::move(*file);
}

void ProcessMetrics::add(core::SampleBatch& out) {
  out.add(kCpu, {}, seconds(CLOCK_PROCESS_CPUTIME_ID));
  std::array<char, 256> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = statm_ ? statm_->read(buffer) : core::os_error(ENOENT);
  if (const auto pages = text ? parse_pages(*text) : std::nullopt) {
    static const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    out.add(kResident, {}, pages->second * page_size);
    out.add(kVirtual, {}, pages->first * page_size);
  }
  if (start_time_) out.add(kStart, {}, *start_time_);
  // The kernel counts a thread as a directory below this one (fs/proc/base.c proc_task_getattr).
  constexpr std::uint64_t kOwnLinks = 2;
  const std::uint64_t links = status_of(task_list_).st_nlink;
  if (links > kOwnLinks) out.add(kThreads, {}, links - kOwnLinks);
  add_open_files(out);
}

void ProcessMetrics::add_open_files(core::SampleBatch& out) {
  // Since Linux 6.2 the size of the directory is the number of open files.
  const auto counted_by_kernel = static_cast<std::uint64_t>(status_of(fd_list_).st_size);
  const auto now = std::chrono::steady_clock::now();
  if (counted_by_kernel > 0) {
    open_files_ = counted_by_kernel;
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
