// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any text as /proc/PID/cgroup. The owner found is a part of the text, and of the claimed kind.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/cgroup_owner.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdma_exporter;
  using fuzz::check;
  using Kind = core::CgroupOwner::Kind;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto owner = core::parse_cgroup_owner(text);
  if (!owner) return 0;
  check(!owner->name.empty() && owner->name.size() <= size, "an owner has a name");
  check(owner->name.find_first_of("/:\n") == std::string::npos, "the name is one component");
  check(owner->container.empty() || owner->container.size() == 64, "a container has 64 digits");
  check(owner->kind == Kind::pod || owner->container.empty(), "only pods have containers");
  if (owner->kind == Kind::pod)
    check(owner->name.size() == 36 || owner->name.size() == 32, "the UID of a pod");
  if (owner->kind == Kind::slurm_job)
    check(std::all_of(owner->name.begin(), owner->name.end(), [](char c) { return c >= '0' && c <= '9'; }),
          "a job id is a number");
  return 0;
}
