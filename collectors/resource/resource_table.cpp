// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/resource_table.h"

#include "collectors/resource/resource_families.h"
#include "core/labels.h"

namespace rdma_exporter::collectors {
namespace {

using host::nldev::Resource;
using host::nldev::ResourceTable;

constexpr std::uint32_t kUser = 0;
constexpr std::uint32_t kKernel = 1;

std::string_view space_name(std::uint32_t space) { return space == kKernel ? "kernel" : "user"; }

// A region that covers the whole address space (implicit on-demand paging has the length ~0) counts as 0
// bytes.
std::uint64_t bytes_of(const Resource& resource) {
  constexpr std::uint64_t kWholeAddressSpace = std::uint64_t{1} << 63U;
  const std::uint64_t length = resource.length.value_or(0);
  return length < kWholeAddressSpace ? length : 0;
}

// The families of the three sums of an object's table.
std::array<const core::MetricDesc*, 3> metrics_of(ResourceTable table) {
  switch (table) {
    case ResourceTable::qp:
      return {&kQps, nullptr, nullptr};
    case ResourceTable::mr:
      return {&kMrs, &kMrBytes, nullptr};
    case ResourceTable::cq:
      return {&kCqs, &kCqEntries, &kCqUsers};
    case ResourceTable::cm_id:
      return {&kCmIds, nullptr, nullptr};
    case ResourceTable::srq:
      return {&kSrqs, nullptr, nullptr};
    case ResourceTable::ctx:
      break;  // by owner only: the summary has their number
  }
  return {};
}

}  // namespace

ResourceTally::Key ResourceTally::key_of(const Resource& resource) const {
  const std::uint32_t space = resource.of_kernel() ? kKernel : kUser;
  constexpr std::uint32_t kNotNamed = ~0U;
  switch (table_) {
    case ResourceTable::qp:
      return {resource.port.value_or(0), resource.type.value_or(kNotNamed),
              resource.state.value_or(kNotNamed), space};
    case ResourceTable::cm_id:
      return {resource.port_space.value_or(kNotNamed), resource.state.value_or(kNotNamed)};
    case ResourceTable::srq:
      return {resource.type.value_or(kNotNamed)};
    default:
      return {space};
  }
}

std::string ResourceTally::labels_of(const Key& key) const {
  using namespace host::nldev;
  switch (table_) {
    case ResourceTable::qp:
      return core::render_labels({{"port", key[0] == 0 ? std::string() : std::to_string(key[0])},
                                  {"qp_type", qp_type_name(key[1])},
                                  {"state", qp_state_name(key[2])},
                                  {"space", space_name(key[3])}});
    case ResourceTable::cm_id:
      return core::render_labels(
          {{"port_space", port_space_name(key[0])}, {"state", cm_id_state_name(key[1])}});
    case ResourceTable::srq:
      return core::render_labels({{"srq_type", srq_type_name(key[0])}});
    default:
      return core::render_labels({{"space", space_name(key[0])}});
  }
}

void ResourceTally::add(const Resource& resource) {
  const std::uint64_t bytes = bytes_of(resource);
  const bool cq = table_ == ResourceTable::cq;
  Values& sums = sums_[key_of(resource)];
  sums[0] += 1;
  sums[1] += cq ? resource.entries.value_or(0) : bytes;
  sums[2] += resource.users.value_or(0);
  OwnerShare& share = owners_[{std::string(resource.kernel_name), resource.pid.value_or(0)}];
  share.objects += 1;
  share.bytes += bytes;
  on_demand_ = on_demand_ || resource.on_demand;
}

std::vector<ResourceRow> ResourceTally::rows() const {
  auto sums = sums_;
  if (table_ == ResourceTable::mr || table_ == ResourceTable::cq) {
    sums.try_emplace(Key{kUser});
    sums.try_emplace(Key{kKernel});
  }
  // Numbers without a name share one label.
  std::map<std::string, Values> named;
  for (const auto& [key, values] : sums) {
    Values& sum = named[labels_of(key)];
    for (std::size_t i = 0; i < values.size(); ++i) sum.at(i) += values.at(i);
  }
  std::vector<ResourceRow> rows;
  const auto metrics = metrics_of(table_);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (metrics.at(i) != nullptr)
      for (const auto& [labels, values] : named) rows.push_back({metrics.at(i), labels, values.at(i)});
  return rows;
}

}  // namespace rdma_exporter::collectors
