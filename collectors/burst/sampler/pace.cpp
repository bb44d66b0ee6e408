// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/sampler/pace.h"

#include <algorithm>

namespace rdma_exporter::collectors {

using std::chrono::nanoseconds;

Tick next_tick(BurstClock::time_point now, std::chrono::system_clock::time_point wall, nanoseconds window) {
  const nanoseconds since_1970 = wall.time_since_epoch();
  const std::int64_t number = (since_1970 + window / 4) / window + 1;
  return {now + (number * window - since_1970), number};
}

void Pace::account(BurstClock::time_point now, nanoseconds reading, nanoseconds cpu, double cpu_limit) {
  if (!since_) since_ = now;
  reading_ += reading;
  cpu_ += cpu;
  const nanoseconds elapsed = now - *since_;
  if (elapsed < std::max<nanoseconds>(std::chrono::seconds(1), 5 * window_)) return;
  const auto share = [&](nanoseconds part) {
    return static_cast<double>(part.count()) / static_cast<double>(elapsed.count());
  };
  // 1: as much as is allowed.
  const double load = std::max(share(reading_) / kReadingLimit, share(cpu_) / cpu_limit);
  reading_ = cpu_ = {};
  since_ = now;
  if (load > 0.5) calm_since_.reset();
  if (load > 1) {
    window_ = std::min(2 * window_, std::max(kLongest, shortest_));
  } else if (load <= 0.5 && !calm_since_) {
    calm_since_ = now - elapsed;
  }
  if (!calm_since_ || now - *calm_since_ < kCalm) return;
  calm_since_.reset();
  window_ = std::max(window_ / 2, shortest_);
}

void RefreshEstimate::take(BurstClock::time_point at, bool moved, bool too_much, nanoseconds window) {
  if (!moved || found_) return;
  if (last_) shortest_ = std::min<nanoseconds>(shortest_, at - *last_);
  last_ = at;
  steps_ += too_much ? 1 : 0;
  if (++moves_ < kMoves) return;
  // What moves in two windows in a row is fresh, however much it moves.
  if (steps_ >= kSteps && 2 * shortest_ > 3 * window) found_ = shortest_;
  moves_ = steps_ = 0;
  shortest_ = nanoseconds::max();
}

}  // namespace rdma_exporter::collectors
