// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "task/background.h"

namespace rdma_exporter::test {

/// Runs tasks when it is told to, or at once.
class ScriptedBackground : public task::Background {
 public:
  void start(std::function<void()> task) override {
    ++started;
    tasks.push_back(std::move(task));
    if (at_once) run();
  }
  void tend() override { ++tended; }
  void run() {
    while (!tasks.empty()) {
      const auto task = std::move(tasks.front());
      tasks.pop_front();
      task();
    }
  }

  bool at_once = true;
  int started = 0;
  int tended = 0;
  std::deque<std::function<void()>> tasks;
};

}  // namespace rdma_exporter::test
