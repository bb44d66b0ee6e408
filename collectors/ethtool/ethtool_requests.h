// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/collector.h"
#include "collectors/ethtool/netdev_operation.h"
#include "facts/netdev_cache.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/kept_netlink.h"

namespace rdma_exporter::collectors {

/// What can be asked of an interface, and what became of it.
struct EthtoolTopic {
  /// `name` must be a string literal. `fed`: the families that the answer feeds; if none of them is exported,
  /// nothing is asked.
  EthtoolTopic(const Context& context, std::string_view name, std::span<const core::MetricDesc* const> fed)
      : EthtoolTopic(name, std::any_of(fed.begin(), fed.end(), [&](const core::MetricDesc* family) {
                       return context.metrics.has(*family);
                     })) {}
  EthtoolTopic(std::string_view name, bool wanted) : operation(name), is_wanted(wanted) {}

  NetdevOperation operation;
  bool is_wanted;
};

/// A request whose answer belongs to the collector alone.
struct EthtoolQuestion : EthtoolTopic {
  using Query = host::genl_ethtool::Query;
  EthtoolQuestion(EthtoolTopic topic, Query query, const std::string& netdev)
      : EthtoolTopic(topic),
        whole(host::genl_ethtool::request(query, netdev)),
        plain(host::genl_ethtool::request(query, netdev, false)) {}
  /// With just one form of the request.
  EthtoolQuestion(EthtoolTopic topic, const std::vector<std::byte>& request)
      : EthtoolTopic(topic), whole(request), plain(request) {}

  bool has_counters() const { return whole != plain; }

  /// A kernel that does not know this request's flag for counters refuses the whole request with EINVAL. A
  /// driver may do so once, so counters are requested again later.
  NetdevOperation counters{"counters beside an answer"};
  const std::vector<std::byte> whole;
  const std::vector<std::byte> plain;  ///< the request without counters
};

/// The requests of one interface to ethtool's netlink family: sends those that are worth sending. One thread
/// at a time.
class EthtoolRequests {
 public:
  EthtoolRequests(host::Host& host, std::shared_ptr<const host::Netdev> netdev)
      : sysfs_(*host.sysfs),
        netdev_(std::move(netdev)),
        netlink_(host::kept_netlink(host, host::NetlinkProtocol::generic)) {}

  /// Call this first in each run. False if there is nothing to talk to.
  bool begin(core::JobRun& run) {
    gone_ = false;
    return netlink_ && find_family(run);
  }

  /// Whether the interface has disappeared in this run: nothing is asked any more.
  bool gone() const { return gone_; }

  facts::EthtoolNetlink netlink() const { return {*netlink_, *family_}; }

  /// Sends the request unless it is pointless. `parse` (Bytes -> core::Result<bool>) reads the answer and
  /// says whether it contained anything.
  template <typename Parse>
  void ask(EthtoolQuestion& question, core::JobRun& run, const Parse& parse) {
    if (gone_ || !question.is_wanted || !question.operation.worth_asking(run.now())) return;
    const bool whole = question.has_counters() && question.counters.worth_asking(run.now());
    auto holds = host::ask<bool>(*netlink_, *family_, whole ? question.whole : question.plain, parse);
    if (holds && whole) question.counters.answered(true, *netdev_, run.now());
    if (!holds && whole && core::is_errno(holds.error(), EINVAL)) {
      question.counters.unsupported(*netdev_, run.now());
      holds = host::ask<bool>(*netlink_, *family_, question.plain, parse);
    }
    if (holds) return question.operation.answered(*holds, *netdev_, run.now());
    gone_ = !question.operation.failed(holds.error(), *netdev_, sysfs_, run);
  }

  /// A fact that others use, too; null if asking is pointless or there is no answer. `read` takes how recent
  /// it has to be. An error is asked for anew: what somebody else has met may be over.
  template <typename Read>
  auto look_up(EthtoolTopic& topic, const facts::Wanted& wanted, core::JobRun& run, const Read& read)
      -> decltype(read(wanted)) {
    if (gone_ || !topic.is_wanted || !topic.operation.worth_asking(run.now())) return nullptr;
    auto fact = read(wanted);
    if (!*fact) fact = read(facts::Wanted{run.now()});
    if (*fact) {
      topic.operation.answered(true, *netdev_, run.now());
      return fact;
    }
    gone_ = !topic.operation.failed(fact->error(), *netdev_, sysfs_, run);
    return nullptr;
  }

 private:
  bool find_family(core::JobRun& run) {
    if (family_) return true;
    if (!family_operation_.worth_asking(run.now())) return false;
    const auto family = host::generic_netlink::find_family(*netlink_, host::genl_ethtool::kFamily);
    if (family) {
      family_ = *family;
      return true;
    }
    // ENOENT: a kernel without ethtool netlink.
    const bool none = core::is_errno(family.error(), ENOENT);
    family_operation_.failed(none ? core::Error{core::Errc::os, EOPNOTSUPP, {}} : family.error(), *netdev_,
                             sysfs_, run);
    return false;
  }

  host::HostFs& sysfs_;
  const std::shared_ptr<const host::Netdev> netdev_;
  const std::unique_ptr<host::Netlink> netlink_;
  NetdevOperation family_operation_{"ethtool netlink"};
  std::optional<std::uint16_t> family_;
  bool gone_ = false;
};

}  // namespace rdma_exporter::collectors
