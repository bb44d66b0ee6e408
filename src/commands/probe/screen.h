// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "asio/asio.h"
#include "commands/probe/mesh_verdict.h"
#include "commands/probe/tally.h"

namespace rdma_exporter::commands {

struct ScreenOptions {
  enum class Output : unsigned char { text, json, raw };
  Output output = Output::text;
  std::uint64_t count = 0;  ///< results of each kind and path; 0: no end
  bool one_sided = true;    ///< what is measured
  bool echo = true;
  bool mesh = false;  ///< text: at the end whom this host sees, and nothing else
};

/// The command probe on standard output. Receives events from the devices' threads, shows them on the thread
/// of `io`, and stops `io` when there are enough. Everything except the Observer's functions is called on
/// that thread.
class ProbeScreen final : public probe::Observer {
 public:
  ProbeScreen(asio::io_context& io, const ScreenOptions& options);

  void begins(const probe::Path& path) override;
  void settled() override;
  void mesh(std::size_t entries, bool member) override;
  void success(const probe::Path& path, probe::Op op, const probe::Completion& completion) override;
  void failure(const probe::Path& path, probe::Op op, const probe::Failure& failure) override;
  void only_echoes(const probe::Path& path) override;

  void show_summary();
  /// The exit status: kCannotServe if nothing worked to one of the targets.
  int finish();

 private:
  using Operations = std::map<probe::Op, Tally>;
  bool enough(const probe::Path& path, const Operations& operations, bool echo) const;
  template <typename What>
  void note(const probe::Path& path, probe::Op op, const What& what);
  void end_if_done();
  void end(std::string_view why);
  void show(const std::string& text);
  bool shows_each() const { return options_.output == ScreenOptions::Output::text && !options_.mesh; }

  asio::io_context& io_;
  const ScreenOptions options_;
  Tallies tallies_;
  MeshList list_;
  std::set<probe::Path> echoes_only_;
  bool settled_ = false;
  int status_ = 0;
};

}  // namespace rdma_exporter::commands
