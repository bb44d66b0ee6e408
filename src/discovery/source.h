// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "discovery/target_list.h"
#include "http/client/address.h"

namespace rdma_exporter::discovery {

using http::resolve;

/// What one look at a source brought.
struct Reading {
  std::optional<TargetList> targets{};  ///< nullopt: what was known before stands
  std::vector<core::Error> problems{};
};

/// Where targets come from. Used by one thread.
class Source {
 public:
  virtual ~Source() = default;
  /// Blocks for as long as the source likes to.
  virtual Reading read() = 0;
  /// Readable when there may be something new before the time for it has come; negative: it never tells.
  virtual int change_fd() const { return -1; }
};

/// Prometheus' file_sd: JSON files, by a pattern as the shell's whose last part alone may have wildcards. A
/// file that cannot be read or is bad keeps the targets it had; one that is gone has none. Watches the
/// directory, because files are replaced and not only written to (a Kubernetes ConfigMap is a link that is
/// turned).
class FileSource final : public Source {
 public:
  explicit FileSource(std::string pattern);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Reading read() override;
  int change_fd() const override { return watch_fd_; }

 private:
  void watch();

  const std::string pattern_;
  int watch_fd_ = -1;
  std::map<std::string, TargetList> files_;  ///< by path
};

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

/// The body of an answer with status 200 to GET, of kMaxListBytes at most, within `time` (a name's resolver
/// aside). HTTPS: the server's certificate has to be of `authority_file` (empty: of one that the host trusts)
/// and for its name. No redirects, no proxy.
core::Result<std::string> fetch(const http::Url& url, const std::string& authority_file,
                                std::chrono::milliseconds time, std::chrono::seconds refresh);

/// Prometheus' http_sd.
class HttpSource final : public Source {
 public:
  HttpSource(http::Url url, std::string authority_file, std::chrono::seconds refresh)
      : url_(std::move(url)), authority_file_(std::move(authority_file)), refresh_(refresh) {}
  Reading read() override;

 private:
  const http::Url url_;
  const std::string authority_file_;
  const std::chrono::seconds refresh_;
};

}  // namespace rdma_exporter::discovery
