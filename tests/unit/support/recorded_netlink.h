// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/netlink/netlink.h"

namespace rdma_exporter::test {

using Message = std::vector<std::byte>;

/// A file below tests/unit/data.
inline Message recorded_file(const std::string& name) {
  std::ifstream file(std::string(SOURCE_DIR) + "/tests/unit/data/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no recording " + name);
  Message bytes;
  for (auto it = std::istreambuf_iterator<char>(file); it != std::istreambuf_iterator<char>(); ++it)
    bytes.push_back(static_cast<std::byte>(*it));
  return bytes;
}

inline Message recorded_message(const std::string& name) { return recorded_file("netlink/" + name); }

inline bool is_recorded(const std::string& name) {
  return std::filesystem::exists(std::string(SOURCE_DIR) + "/tests/unit/data/netlink/" + name);
}

/// What a ScriptedNetlink answers, by nlmsg_type: messages, or an errno. Shared, so that a test can change
/// it.
struct Script {
  std::map<std::uint16_t, std::vector<Message>> answers;
  std::map<std::uint16_t, int> refusals;
  std::map<std::uint16_t, int> requests;
  /// Looks at the request itself and answers it, or leaves it to the tables above.
  std::function<std::optional<core::Result<Message>>(std::uint16_t type, host::Bytes payload)> respond;
};

class ScriptedNetlink : public host::Netlink {
 public:
  explicit ScriptedNetlink(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t /*flags*/, host::Bytes payload,
                             const OnMessage& on_message) override {
    ++script_->requests[type];
    if (script_->respond) {
      if (const auto answer = script_->respond(type, payload)) {
        if (!*answer) return tl::unexpected(answer->error());
        on_message(**answer);
        return {};
      }
    }
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
