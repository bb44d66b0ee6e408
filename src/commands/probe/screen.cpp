// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/screen.h"

#include <chrono>
#include <type_traits>

#include "app/command.h"
#include "core/seconds.h"
#include "log/log.h"

namespace rdma_exporter::commands {
namespace {

using Output = ScreenOptions::Output;

std::uint64_t results(const std::map<probe::Op, Tally>& operations, bool echo) {
  std::uint64_t sum = 0;
  for (const auto& [op, tally] : operations)
    if ((op == probe::Op::echo) == echo) sum += tally.successes() + tally.failures();
  return sum;
}

bool worked(const std::map<probe::Op, Tally>& operations) {
  for (const auto& [op, tally] : operations)
    if (tally.successes() != 0) return true;
  return false;
}

}  // namespace

ProbeScreen::ProbeScreen(asio::io_context& io, const ScreenOptions& options) : io_(io), options_(options) {
  if (options_.output == Output::raw) show(raw_header());
}

void ProbeScreen::begins(const probe::Path& path) {
  asio::post(io_, [this, path] { tallies_[path]; });
}

void ProbeScreen::settled() {
  asio::post(io_, [this] {
    settled_ = true;
    if (tallies_.empty() && !options_.mesh) end("this host has no active RDMA port among those selected");
    if (tallies_.empty() && options_.mesh) io_.stop();  // the verdict says why
    end_if_done();
  });
}

void ProbeScreen::mesh(std::size_t entries, bool member) {
  asio::post(io_, [this, entries, member] { list_ = {entries, member}; });
}

void ProbeScreen::success(const probe::Path& path, probe::Op op, const probe::Completion& completion) {
  asio::post(io_, [this, path, op, completion] { note(path, op, completion); });
}

void ProbeScreen::failure(const probe::Path& path, probe::Op op, const probe::Failure& failure) {
  // Anything that was due before the first connection says nothing about the path.
  if (failure.reason == probe::kNotConnected) return;
  asio::post(io_, [this, path, op, failure] { note(path, op, failure); });
}

void ProbeScreen::only_echoes(const probe::Path& path) {
  asio::post(io_, [this, path] {
    if (!echoes_only_.insert(path).second) return;
    log::warn("the peer's adapter accepts none of the requested one-sided operations; only echoes continue",
              {{"target", path.target}, {"device", path.device}, {"port", std::to_string(path.port)}});
    end_if_done();
  });
}

void ProbeScreen::show_summary() {
  if (options_.output == Output::text)
    show(options_.mesh ? mesh_text(tallies_, list_) : tallies_text(tallies_));
}

int ProbeScreen::finish() {
  if (options_.output == Output::json) show(tallies_json(tallies_));
  show_summary();
  for (const auto& [path, operations] : tallies_)
    if (!worked(operations)) status_ = app::kCannotServe;
  return tallies_.empty() ? app::kCannotServe : status_;
}

bool ProbeScreen::enough(const probe::Path& path, const Operations& operations, bool echo) const {
  const bool measured = echo ? options_.echo : options_.one_sided && !echoes_only_.contains(path);
  return !measured || (options_.count != 0 && results(operations, echo) >= options_.count);
}

template <typename What>
void ProbeScreen::note(const probe::Path& path, probe::Op op, const What& what) {
  auto& operations = tallies_[path];
  if (op != probe::Op::echo) echoes_only_.erase(path);          // another flow, or a peer that has returned
  if (enough(path, operations, op == probe::Op::echo)) return;  // others are still in progress
  if constexpr (std::is_same_v<What, probe::Completion>)
    operations[op].success(what.rtt, what.clock);
  else
    operations[op].failure(what);
  if (options_.output == Output::raw) show(raw_line(core::seconds_since_epoch(), path, op, what));
  if (shows_each()) {
    if constexpr (std::is_same_v<What, probe::Completion>)
      show(success_line(path, op, what));
    else
      show(failure_line(path, op, what));
  }
  end_if_done();
}

void ProbeScreen::end_if_done() {
  if (!settled_ || options_.count == 0) return;
  for (const auto& [path, operations] : tallies_)
    if (!enough(path, operations, false) || !enough(path, operations, true)) return;
  io_.stop();
}

void ProbeScreen::end(std::string_view why) {
  log::error(why);
  io_.stop();
}

void ProbeScreen::show(const std::string& text) {
  if (app::print(text) == 0) return;
  status_ = app::kCannotServe;
  io_.stop();
}

}  // namespace rdma_exporter::commands
