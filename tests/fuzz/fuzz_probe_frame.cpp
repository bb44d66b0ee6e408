// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes from a peer of the probe. An accepted frame is encoded to the same bytes, so nothing in it is
// ignored, and its values are within the ranges that libibverbs accepts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "probe/channel/frame.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

void check_end(const probe::QpPairAddress& end) {
  check(end.mtu >= 1 && end.mtu <= 5, "an MTU of enum ibv_mtu");
  for (const probe::QpNumbers& qp : {end.one_sided, end.echo}) {
    check(qp.number != 1 && qp.number <= 0xffffff, "not a management queue pair");
    check(qp.psn <= 0xffffff, "a PSN of 24 bits");
  }
}

void check_text(std::string_view text) {
  check(text.size() <= probe::kMaxFrameText, "a short text");
  check(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }), "printable");
}

struct CheckFields {
  void operator()(const probe::Connect& connect) const {
    check_text(connect.device);
    check_end(connect.address);
    check(connect.timeout >= 1 && connect.retry <= 6, "a connection that can fail");
  }
  void operator()(const probe::Accept& accept) const {
    check_text(accept.device);
    check_end(accept.address);
    check(!accept.cm_address || accept.cm_address->port != 0, "a port to call");
  }
  void operator()(const probe::Hello& hello) const {
    check_text(hello.cluster);
    check_text(hello.host);
  }
  void operator()(const probe::Reject& reject) const {
    check(!probe::rejected_name(reject.reason).empty(), "a refusal has a name");
  }
  template <typename Other>
  void operator()(const Other& /*frame*/) const {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto length = probe::frame_length(bytes);
  if (!length) {
    check(!probe::decode(bytes).has_value(), "a bad header is a bad frame");
    return 0;
  }
  check(*length <= probe::kMaxFrame, "bounded");
  if (*length == 0 || *length > size) return 0;
  const auto whole = bytes.first(*length);
  const auto frame = probe::decode(whole);
  if (!frame) return 0;
  std::visit(CheckFields{}, *frame);
  const auto again = probe::encode(*frame);
  // The version in the header is the writer's own, and the only byte that may differ.
  for (std::size_t i = 0; i < again.size(); ++i)
    check(i == 3 || again[i] == whole[i], "written as it was read");
  check(again.size() == whole.size(), "nothing is left out");
  return 0;
}
