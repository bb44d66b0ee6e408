// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as netlink attributes: each attribute lies inside the message, after the one before.
#include <cstddef>
#include <cstdint>

#include "host/netlink/netlink_attr.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

// Attributes nest; the parsers go three levels deep.
void walk(host::Bytes bytes, int depth) {
  const std::byte* last = bytes.data();
  std::size_t covered = 0;
  const bool whole = host::for_each_attr(bytes, [&](const host::Attr& attr) {
    check(attr.data.data() >= last + sizeof(nlattr), "attributes do not overlap");
    last = attr.data.data() + attr.data.size();
    check(last <= bytes.data() + bytes.size(), "an attribute ends inside the message");
    check((attr.type & ~NLA_TYPE_MASK) == 0, "the type is without flags");
    check(attr.text().size() <= attr.data.size(), "text ends inside the attribute");
    check(attr.number<std::uint64_t>().has_value() == (attr.data.size() == 8), "a number has its size");
    (void)attr.number<std::uint32_t>();
    (void)attr.number<std::uint8_t>();
    covered += NLA_ALIGN(attr.data.size() + sizeof(nlattr));
    if (depth > 0) walk(attr.data, depth - 1);
  });
  check(!whole || covered >= bytes.size(), "a whole message is covered by its attributes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  walk(std::as_bytes(std::span(data, size)), 3);
  return 0;
}
