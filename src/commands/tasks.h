// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "log/log.h"
#include "task/background.h"

namespace rdma_exporter::commands {

using Deadline = std::chrono::steady_clock::time_point;

/// Runs tasks that may hang in the kernel, each on any free thread, and waits for them until `deadline`.
/// Returns their results in order; nullopt for a task that is late or threw. Late results are dropped.
/// Whatever the tasks use must live until they end, or until the process does.
template <typename T>
std::vector<std::optional<T>> run_until(task::Background& background, std::vector<std::function<T()>> tasks,
                                        Deadline deadline) {
  struct State {
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t pending = 0;
    std::vector<std::optional<T>> results;
  };
  const auto state = std::make_shared<State>();
  state->pending = tasks.size();
  state->results.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    background.start([state, i, task = std::move(tasks[i])] {
      std::optional<T> result;
      try {
        result.emplace(task());
      } catch (const std::exception& error) {
        log::error("a read failed", {{"error", error.what()}});
      }
      const std::lock_guard lock(state->mutex);
      state->results[i] = std::move(result);
      --state->pending;
      state->ended.notify_all();
    });
  constexpr std::chrono::milliseconds kTick{50};
  std::unique_lock lock(state->mutex);
  while (state->pending > 0 && std::chrono::steady_clock::now() < deadline) {
    state->ended.wait_for(lock, kTick);
    background.tend();
  }
  return state->results;
}

}  // namespace rdma_exporter::commands
