// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "discovery/target_list.h"

namespace rdma_exporter::discovery {

/// Where targets are looked for.
struct SourceOptions {
  std::vector<std::string> files{};  ///< patterns of file_sd
  std::vector<std::string> names{};  ///< DNS, "name" or "name:port"
  std::vector<std::string> urls{};   ///< of http_sd
  std::string authority_file{};      ///< of https servers; empty: those that the host trusts
  std::chrono::seconds refresh{30};
  bool empty() const { return files.empty() && names.empty() && urls.empty(); }
  bool operator==(const SourceOptions&) const = default;
};

/// Whether every name and URL is one. The error is a whole message.
core::Result<void> check(const SourceOptions& options);

/// What a source has come to.
struct SourceStatus {
  std::string kind;  ///< "file_sd", "dns_sd", "http_sd"
  std::string name;  ///< its pattern, name or URL
  std::size_t targets = 0;
  bool known = false;  ///< it has been read once
  bool failing = false;
  double last_success = 0;                               ///< seconds since 1970, 0: never
  std::map<std::string_view, std::uint64_t> failures{};  ///< by reason
};

/// All sources, each with a thread of its own, because each may block for as long as it likes: a name server
/// or a file system that hangs holds up nothing else. Used by one thread; no call blocks.
class Sources {
 public:
  /// `changed` is called on any thread whenever targets() would give something new or is known for the first
  /// time; not after stop().
  explicit Sources(std::function<void()> changed) : changed_(std::move(changed)) {}
  ~Sources() { stop(); }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  /// Those that both have go on. What is not wanted any more is forgotten at once.
  void configure(const SourceOptions& options);
  void stop();

  /// The targets of all sources together.
  TargetList targets() const;
  std::vector<SourceStatus> status() const;
  /// No thread is left of sources that were stopped.
  bool idle() const;

 private:
  class Job;
  std::function<void()> changed_;
  SourceOptions options_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Job>> jobs_;  ///< by kind and text
  std::vector<std::weak_ptr<Job>> ending_;
};

}  // namespace rdma_exporter::discovery
