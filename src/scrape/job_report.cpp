// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/job_report.h"

#include <algorithm>
#include <array>

#include "core/labels.h"

namespace rdma_exporter::scrape {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kSuccess{"rdma_exporter_collector_success",
                              MetricType::gauge,
                              "collector",
                              "",
                              "Whether the collector read all of its devices in time: 1 if so, else 0. "
                              "rdma_exporter_collector_failing names the devices that failed",
                              "src/scrape"};
constexpr MetricDesc kCollectorDuration{
    "rdma_exporter_collector_duration_seconds",
    MetricType::gauge,
    "collector",
    "seconds",
    "Time in seconds that the collector spent on all devices together. A stuck "
    "read counts with the time it has been stuck so far",
    "src/scrape"};
constexpr MetricDesc kTimeouts{"rdma_exporter_collector_timeouts_total",
                               MetricType::counter,
                               "collector",
                               "reads",
                               "Number of times a collection went on without this collector's results for a "
                               "device because they were late",
                               "src/scrape"};
constexpr MetricDesc kFailing{
    "rdma_exporter_collector_failing",
    MetricType::gauge,
    "collector,device,reason",
    "",
    "Devices that are missing from a collector's output; 1 while a device is missing, else absent. "
    "reason=\"late\": the read takes too long; busy: an earlier read has not returned from the kernel; "
    "back_off: not retried yet after several timeouts; not_started: no worker was free in time; failed: "
    "nothing could be read",
    "src/scrape"};
constexpr MetricDesc kReadErrors{
    "rdma_exporter_read_errors_total",
    MetricType::counter,
    "collector,device,reason",
    "reads",
    "Failed reads of sources that exist. reason is the errno name, parse or too_long",
    "src/scrape"};
constexpr MetricDesc kDropped{"rdma_exporter_series_dropped_total",
                              MetricType::counter,
                              "collector,device,reason",
                              "series",
                              "Series left out of a collection because of a limit; reason names the limit",
                              "src/scrape"};

constexpr std::array kReportFamilies{&kSuccess, &kCollectorDuration, &kTimeouts,
                                     &kFailing, &kReadErrors,        &kDropped};
static_assert(std::all_of(kReportFamilies.begin(), kReportFamilies.end(),
                          [](const MetricDesc* m) { return core::valid(*m); }));

std::string_view reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::late:
      return "late";
    case Outcome::busy:
      return "busy";
    case Outcome::back_off:
      return "back_off";
    case Outcome::pending:
      return "not_started";
    case Outcome::unwanted:
    case Outcome::done:
      break;
  }
  return "failed";
}

std::string with_reason(std::string labels, std::string_view reason) {
  core::append_label(labels, "reason", reason);
  return labels;
}

void add_all(const Slot& slot, core::RareCounts::List counts, JobReport::Totals& totals) {
  for (const auto& [why, count] : counts) totals[with_reason(slot.labels(), why)] += count;
}

void write_all(const MetricDesc& family, const JobReport::Totals& totals, core::SampleBatch& out) {
  for (const auto& [labels, count] : totals) out.add(family, labels, count);
}

}  // namespace

// Each device has the same collectors in the same order, so it is mostly the one behind the last one. A name
// is the same static text each time.
JobReport::Collector& JobReport::collector(std::string_view name) {
  for (std::size_t tried = 0; tried < collectors_.size(); ++tried) {
    last_ = last_ + 1 < collectors_.size() ? last_ + 1 : 0;
    Collector& known = collectors_[last_];
    if (known.name.data() == name.data() || known.name == name) return known;
  }
  last_ = collectors_.size();
  return collectors_.emplace_back(Collector{.name = name});
}

void JobReport::add(const Slot& slot, Outcome outcome, bool success, std::chrono::duration<double> taken) {
  Collector& its = collector(slot.job().collector());
  its.success = its.success && success;
  its.seconds += taken.count();
  if (!success) failing_.insert(with_reason(slot.labels(), reason(outcome)));
  if (!slot.read_errors().empty()) add_all(slot, slot.read_errors(), read_errors_);
  if (!slot.dropped().empty()) add_all(slot, slot.dropped(), dropped_);
}

void JobReport::write(core::SampleBatch& out) const {
  std::vector<Collector> sorted = collectors_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Collector& a, const Collector& b) { return a.name < b.name; });
  for (const Collector& collector : sorted) {
    std::string labels = "collector=\"";  // a name of ours has nothing to escape
    labels.append(collector.name).append("\"");
    out.add_flag(kSuccess, labels, collector.success);
    out.add(kCollectorDuration, labels, collector.seconds);
    const auto timeouts = timeouts_.find(collector.name);
    out.add(kTimeouts, labels, timeouts == timeouts_.end() ? std::uint64_t{0} : timeouts->second);
  }
  for (const std::string& labels : failing_) out.add(kFailing, labels, std::uint64_t{1});
  write_all(kReadErrors, read_errors_, out);
  write_all(kDropped, dropped_, out);
}

std::span<const core::MetricDesc* const> JobReport::families() { return kReportFamilies; }

}  // namespace rdma_exporter::scrape
