// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/sysfs_counters.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "collectors/attr_text.h"
#include "core/text/kernel_text.h"

namespace rdma_exporter::collectors {
namespace {

// The longest valid text has 20 digits and a newline.
constexpr std::size_t kBufferSize = 64;

}  // namespace

// Not the ports of all devices in the same cycle.
SysfsCounters::SysfsCounters(host::Host& host, const std::string& path, IsRare is_rare)
    : dir_(*host.sysfs, path, host.open_files),
      is_rare_(is_rare),
      until_rare_(std::hash<std::string>()(path) % kRareEvery) {}

void SysfsCounters::set_names(CounterSet& counters) {
  std::vector<std::string> names = dir_.names();
  // A setting (ms between firmware queries), not a counter.
  const auto lifespan = std::find(names.begin(), names.end(), "lifespan");
  lifespan_ = static_cast<std::size_t>(lifespan - names.begin());
  if (lifespan != names.end()) names.erase(lifespan);
  failing_.clear();
  names_are_new_ = true;
  if (is_rare_) {
    rare_.resize(names.size());
    std::transform(names.begin(), names.end(), rare_.begin(), is_rare_);
  }
  if (names != counters.names()) counters.set_names(std::move(names));
  in_step_with_ = counters.version();
}

// At first, and when there are other counters than before, too.
bool SysfsCounters::reads_all(bool rarely) {
  if (std::exchange(names_are_new_, false) || !rarely || !is_rare_) return true;
  const bool due = until_rare_ == 0;
  until_rare_ = due ? kRareEvery - 1 : until_rare_ - 1;
  return due;
}

void SysfsCounters::read(CounterSet& counters, core::JobRun& run, bool rarely) {
  const auto changed = dir_.refresh();
  if (!changed) count_unless_absent(changed.error(), run);
  if (!changed || *changed || in_step_with_ != counters.version()) set_names(counters);
  const bool all = reads_all(rarely);
  for (std::size_t i = 0; i < counters.names().size(); ++i) {
    if (!counters.is_wanted(i)) continue;
    if (all || !rare_[i])
      read_one(i, counters, run);
    else
      counters.put_again(i);
  }
}

core::Result<std::optional<std::uint64_t>> SysfsCounters::read_value(std::size_t counter) {
  std::array<char, kBufferSize> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = dir_.read(counter < lifespan_ ? counter : counter + 1, buffer);
  return text ? core::parse_counter(*text) : tl::unexpected(text.error());
}

void SysfsCounters::read_one(std::size_t counter, CounterSet& counters, core::JobRun& run) {
  auto failing = std::find_if(failing_.begin(), failing_.end(),
                              [&](const Failing& known) { return known.counter == counter; });
  if (failing != failing_.end() && !failing->backoff.allows(run.now())) return;
  const auto value = read_value(counter);
  if (!value) {
    if (failing == failing_.end()) failing = failing_.insert(failing, {counter, {}});
    failing->backoff.failed(run.now());
    return count_unless_absent(value.error(), run);
  }
  if (failing != failing_.end()) failing_.erase(failing);
  if (!*value) return;
  if (is_rare_ && **value != 0) rare_[counter] = false;
  counters.put(counter, **value);
}

}  // namespace rdma_exporter::collectors
