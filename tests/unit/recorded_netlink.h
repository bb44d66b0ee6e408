// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/netlink.h"

namespace rdma_exporter::test {

using Message = std::vector<std::byte>;

inline Message recorded_message(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/tests/unit/data/netlink/" + name, std::ios::binary);
  Message bytes;
  for (auto it = std::istreambuf_iterator<char>(file); it != std::istreambuf_iterator<char>(); ++it)
    bytes.push_back(static_cast<std::byte>(*it));
  return bytes;
}

/// What a ScriptedNetlink answers, by nlmsg_type: messages, or an errno. Shared, so that a test can change
/// it.
struct Script {
  std::map<std::uint16_t, std::vector<Message>> answers;
  std::map<std::uint16_t, int> refusals;
  std::map<std::uint16_t, int> requests;
};

class ScriptedNetlink : public host::Netlink {
 public:
  explicit ScriptedNetlink(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t /*flags*/, host::Bytes /*payload*/,
                             const OnMessage& on_message) override {
    ++script_->requests[type];
    if (const auto refusal = script_->refusals.find(type); refusal != script_->refusals.end())
      return core::os_error(refusal->second);
    for (const Message& message : script_->answers[type]) on_message(message);
    return {};
  }

  core::Result<void> dump(std::uint16_t type, host::Bytes /*payload*/, const OnPart& on_part) override {
    ++script_->requests[type];
    if (const auto answers = script_->answers.find(type); answers != script_->answers.end())
      for (const Message& message : answers->second)
        if (!on_part(message)) return {};
    // A dump can also be refused in its course.
    if (const auto refusal = script_->refusals.find(type); refusal != script_->refusals.end())
      return core::os_error(refusal->second);
    return {};
  }

 private:
  std::shared_ptr<Script> script_;
};

}  // namespace rdma_exporter::test
