// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/selection.h"

#include <algorithm>

namespace rdma_exporter::scrape {

bool Selection::covers(const Selection& other) const {
  if (all_ || other.all_) return all_;
  return std::includes(names_.begin(), names_.end(), other.names_.begin(), other.names_.end());
}

void Selection::add(const Selection& other) {
  all_ = all_ || other.all_;
  if (all_) return names_.clear();
  names_.insert(other.names_.begin(), other.names_.end());
}

}  // namespace rdma_exporter::scrape
