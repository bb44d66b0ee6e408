// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/netdev_shared.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collectors/ethtool/ethtool_standard_table.h"

namespace rdma_exporter::collectors {

void NetdevShared::set_twins(std::vector<DriverTwin> twins) {
  auto set = std::make_shared<const std::vector<DriverTwin>>(std::move(twins));
  const std::lock_guard lock(mutex_);
  twins_ = std::move(set);
  is_set_ = true;
  set_.notify_all();
}

void NetdevShared::wait_for_twins(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  set_.wait_for(lock, longest, [this] { return is_set_; });
}

std::shared_ptr<const std::vector<DriverTwin>> NetdevShared::twins() const {
  const std::lock_guard lock(mutex_);
  return twins_;
}

void NetdevShared::set_pfc(std::optional<std::uint8_t> enabled) {
  const std::lock_guard lock(mutex_);
  pfc_ = enabled;
}

std::optional<std::uint8_t> NetdevShared::pfc() const {
  const std::lock_guard lock(mutex_);
  return pfc_;
}

std::shared_ptr<NetdevShared> NetdevSharing::of(const host::FileId& netdev) {
  const std::lock_guard lock(mutex_);
  std::erase_if(shared_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [registration, known] : shared_)
    if (registration == netdev)
      if (auto shared = known.lock()) return shared;
  auto shared = std::make_shared<NetdevShared>();
  shared_.emplace_back(netdev, shared);
  return shared;
}

bool has_standard_twin(const core::MetricDesc& family) {
  static constexpr std::array kTwins{&kNetdevPauseFrames, &kNetdevSymbolErrors, &kNetdevFecBlocks,
                                     &kNetdevFecCorrectedBitErrors, &kNetdevLinkDownEvents};
  return std::find(kTwins.begin(), kTwins.end(), &family) != kTwins.end();
}

}  // namespace rdma_exporter::collectors
