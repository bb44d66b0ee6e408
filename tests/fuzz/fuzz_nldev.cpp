// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as an answer of the RDMA netlink device client. Names point into the answer and are not empty;
// input that was rejected once is rejected again.
#include <cstddef>
#include <cstdint>

#include "host/netlink/address_message.h"
#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/nldev.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

void check_counters(host::Bytes answer) {
  const char* begin = reinterpret_cast<const char*>(answer.data());
  std::size_t counters = 0;
  const auto parsed =
      host::nldev::parse_counters(answer, [&](std::string_view name, std::uint64_t /*value*/) {
        ++counters;
        check(!name.empty(), "a counter has a name");
        check(name.data() >= begin && name.data() + name.size() <= begin + answer.size(),
              "the name is in the answer");
        check(name.find('\0') == std::string_view::npos, "the name ends at NUL");
      });
  // Entry, name and value: three headers, one byte of name and eight of value.
  check(counters * (3 * sizeof(nlattr) + 9) <= answer.size(), "no more counters than fit");
  if (!parsed) check(parsed.error().kind == core::Errc::parse, "a parse error");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const host::Bytes answer = std::as_bytes(std::span(data, size));
  const auto device = host::nldev::parse_device(answer);
  if (device) check(!device->name.empty() && device->name.size() < size, "a device has a name of the answer");
  const auto port = host::nldev::parse_port(answer);
  if (port && port->state) check(*port->state <= 255, "the state is 8 bits wide");
  check(!device || port.has_value(), "what is whole for one parser is whole for the other");
  check_counters(answer);
  const auto shared = host::nldev::parse_shared_namespaces(answer);
  check(!device || shared.has_value(), "what is whole for one parser is whole for the other");
  const auto address = host::parse_address(answer);
  if (address && *address)
    check((*address)->gid.size() == 39 && !(*address)->text.empty(), "an address has a text and a GID");
  return 0;
}
