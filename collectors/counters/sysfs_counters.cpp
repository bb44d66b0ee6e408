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

// The longest valid text has 20 digits and a newline.
constexpr std::size_t kBufferSize = 64;

}  // namespace

SysfsCounters::SysfsCounters(host::Host& host, std::string path)
    : dir_(*host.sysfs, std::move(path), host.open_files) {}

void SysfsCounters::set_names(CounterSet& counters) {
  std::vector<std::string> names = dir_.names();
  // A setting (ms between firmware queries), not a counter.
  const auto lifespan = std::find(names.begin(), names.end(), "lifespan");
  lifespan_ = static_cast<std::size_t>(lifespan - names.begin());
  if (lifespan != names.end()) names.erase(lifespan);
  backoffs_.clear();
  if (names != counters.names()) counters.set_names(std::move(names));
  in_step_with_ = counters.version();
}

void SysfsCounters::read(CounterSet& counters, core::JobRun& run) {
  const auto changed = dir_.refresh();
  if (!changed) count_unless_absent(changed.error(), run);
  if (!changed || *changed || in_step_with_ != counters.version()) set_names(counters);
  for (std::size_t i = 0; i < counters.names().size(); ++i)
    if (counters.is_wanted(i)) read_one(i, counters, run);
}

void SysfsCounters::read_one(std::size_t counter, CounterSet& counters, core::JobRun& run) {
  const auto failing = backoffs_.find(counter);
  if (failing != backoffs_.end() && !failing->second.allows(run.now())) return;
  std::array<char, kBufferSize> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = dir_.read(counter < lifespan_ ? counter : counter + 1, buffer);
  if (!text) {
    backoffs_[counter].failed(run.now());
    count_unless_absent(text.error(), run);
    return;
  }
  const auto value = core::parse_counter(*text);
  if (!value) {
    backoffs_[counter].failed(run.now());
    run.count_read_error(core::reason(value.error()));
    return;
  }
  if (failing != backoffs_.end()) backoffs_.erase(failing);
  if (*value) counters.put(counter, **value);
}

}  // namespace rdma_exporter::collectors
