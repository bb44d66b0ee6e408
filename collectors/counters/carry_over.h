// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// State that outlives the collectors of one configuration, such as the 64-bit extension of a 32-bit counter.
/// A reload creates new collectors; without this state an extended counter would fall, which looks like a
/// reset. Belongs to one registration of a device or interface: a new registration starts without it.
/// Thread-safe; slots may outlive it.
class CarryOver {
  struct Entry;

 public:
  /// One source, held by the reader that took it last. An earlier reader may still be stuck in the kernel and
  /// return with old values; its leave() is ignored.
  class Slot {
   public:
    /// A slot without storage: it holds no state, and leave() does nothing.
    Slot() = default;
    /// What the previous holder left, or State{}. Works once.
    template <typename State>
    State found() {
      const std::any found = std::exchange(found_, {});
      const auto* state = std::any_cast<State>(&found);
      return state == nullptr ? State{} : *state;
    }
    /// Stores the state for the next holder, into what was stored before: it keeps its buffers.
    template <typename State>
    void leave(const State& state) {
      if (!entry_) return;
      const std::lock_guard lock(entry_->mutex);
      if (entry_->turn != turn_) return;
      if (auto* const stored = std::any_cast<State>(&entry_->state))
        *stored = state;
      else
        entry_->state = state;
    }

   private:
    friend class CarryOver;
    std::shared_ptr<Entry> entry_;
    std::uint64_t turn_ = 0;
    std::any found_;
  };

  /// `source` names it below its registration, the directory of the device or interface: "1/hw_counters".
  Slot take(const host::FileId& registration, const std::string& source);

  /// Forgets all other registrations. Holders of their slots may continue to use them.
  void keep_only(std::span<const host::FileId> registrations);

  std::size_t size() const;

 private:
  struct Entry {
    std::mutex mutex;
    std::uint64_t turn = 0;
    std::any state;
  };
  struct Source {
    host::FileId registration;
    std::string name;
    std::shared_ptr<Entry> entry;
  };

  mutable std::mutex mutex_;
  std::deque<Source> sources_;  ///< a few per port; searched only when devices come and go
};

}  // namespace rdma_exporter::collectors
