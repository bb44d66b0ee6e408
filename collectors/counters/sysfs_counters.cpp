// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/sysfs_counters.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collectors/attr_text.h"
#include "core/text/kernel_text.h"

namespace rdma_exporter::collectors {
namespace {

// The longest legal text is 20 digits and a newline.
constexpr std::size_t kBufferSize = 64;
constexpr unsigned kFailuresBeforeBackOff = 3;
constexpr std::chrono::seconds kMaxBackoff{60};

}  // namespace

SysfsCounters::SysfsCounters(host::Host& host, std::string path)
    : dir_(*host.sysfs, std::move(path), host.open_files) {}

void SysfsCounters::set_names(CounterSet& counters) {
  std::vector<std::string> names;
  files_.clear();
  for (std::size_t i = 0; i < dir_.names().size(); ++i) {
    if (dir_.names()[i] == "lifespan") continue;  // a setting (ms between firmware queries), not a counter
    files_.push_back(i);
    names.push_back(dir_.names()[i]);
  }
  patience_.assign(names.size(), {});
  if (names != counters.names()) counters.set_names(std::move(names));
  in_step_with_ = counters.version();
}

void SysfsCounters::read(CounterSet& counters, core::JobRun& run) {
  const auto changed = dir_.refresh();
  if (!changed) count_unless_absent(changed.error(), run);
  if (!changed || *changed || in_step_with_ != counters.version()) set_names(counters);
  for (std::size_t i = 0; i < files_.size(); ++i) read_one(i, counters, run);
}

void SysfsCounters::read_one(std::size_t counter, CounterSet& counters, core::JobRun& run) {
  Patience& patience = patience_[counter];
  if (patience.failures >= kFailuresBeforeBackOff && run.now() < patience.not_before) return;
  std::array<char, kBufferSize> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = dir_.read(files_[counter], buffer);
  if (!text) {
    failed(patience, run.now());
    count_unless_absent(text.error(), run);
    return;
  }
  const auto value = core::parse_counter(*text);
  if (!value) {
    failed(patience, run.now());
    run.count_read_error(core::reason(value.error()));
    return;
  }
  patience.failures = 0;
  if (*value) counters.put(counter, **value);
}

void SysfsCounters::failed(Patience& patience, Clock::time_point now) {
  ++patience.failures;
  const unsigned doublings =
      std::min(patience.failures - std::min(patience.failures, kFailuresBeforeBackOff), 6U);
  patience.not_before = now + std::min(kMaxBackoff, std::chrono::seconds(1U << doublings));
}

}  // namespace rdma_exporter::collectors
