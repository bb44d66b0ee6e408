// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as part of a dump of resources, as a summary or as statistics. Names point into the message;
// there are no more objects than the input allows.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectors/resource/resource_table.h"
#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/resource.h"
#include "host/netlink/nldev/statistic.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using namespace rdma_exporter::host::nldev;
using fuzz::check;

bool inside(std::string_view text, host::Bytes message) {
  const char* begin = reinterpret_cast<const char*>(message.data());
  return text.empty() || (text.data() >= begin && text.data() + text.size() <= begin + message.size());
}

void check_table(host::Bytes message, ResourceTable table) {
  std::size_t objects = 0;
  collectors::ResourceTally tally(table);
  const auto parsed = parse_resources(message, table, [&](const Resource& resource) {
    ++objects;
    check(inside(resource.kernel_name, message), "the module's name is in the message");
    check(!resource.type || !qp_type_name(*resource.type).empty(), "a type has a name");
    tally.add(resource);
  });
  check(objects * (2 * sizeof(nlattr) + 4) <= message.size(), "no more objects than fit");
  if (!parsed) check(parsed.error().kind == core::Errc::parse, "a parse error");
  std::uint64_t owned = 0;
  for (const auto& [owner, share] : tally.owners()) owned += share.objects;
  check(owned == objects, "every object has one owner");
  for (const auto& row : tally.rows())
    check(row.labels.find('\n') == std::string::npos, "labels are one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const host::Bytes message = std::as_bytes(std::span(data, size));
  for (std::size_t table = 0; table < kResourceTables; ++table)
    check_table(message, static_cast<ResourceTable>(table));
  (void)parse_resource_summary(message, [&](const ResourceCount& count) {
    check(!count.type.empty() && inside(count.type, message), "a type has a name of the message");
  });
  (void)parse_counter_status(message, [&](const CounterStatus& status) {
    check(!status.name.empty() && inside(status.name, message), "a counter has a name of the message");
  });
  (void)parse_qp_statistics(message, [&](const QpStatistic& set) {
    check(set.qps * sizeof(nlattr) <= message.size(), "no more queue pairs than fit");
    for (const auto& [name, value] : set.values) check(inside(name, message), "names are in the message");
  });
  (void)parse_mr_statistics(message, [&](const MrStatistic& mr) {
    for (const auto& [name, value] : mr.values) check(inside(name, message), "names are in the message");
  });
  return 0;
}
