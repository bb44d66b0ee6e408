// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "discovery/source.h"
#include "http/client/resolve.h"

namespace rdma_exporter::discovery {

using http::resolve;

/// Those to probe: IPv4 addresses where there are any, so that no peer is there twice.
TargetGroup group_of(std::vector<std::string> addresses, std::uint16_t port);

/// All addresses of one name: the pods of a headless Kubernetes service. A name that is not known is an error
/// like any other and removes nothing: this host is one of its own peers, so the answer is never rightly
/// empty.
class DnsSource final : public Source {
 public:
  explicit DnsSource(Address name) : name_(std::move(name)) {}
  Reading read() override;

 private:
  const Address name_;
};

}  // namespace rdma_exporter::discovery
