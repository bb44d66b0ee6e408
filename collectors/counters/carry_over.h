// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// What collectors know of a source beyond its last reading (how far a counter has been continued) and hand
/// to those that come after them: a reload of the configuration makes new collectors, and a counter that then
/// fell would look reset. It belongs to one registration of a device or an interface: what is registered anew
/// begins anew. Thread-safe; slots outlive it if need be.
class CarryOver {
  struct Entry;

 public:
  /// One source, held by one reader at a time: the last who took it. A reader before it may still be stuck in
  /// the kernel and return with old values; it leaves nothing any more.
  class Slot {
   public:
    /// Nothing is found, and what is left is lost.
    Slot() = default;
    /// What the holder before has left, or a State{}; once.
    template <typename State>
    State found() {
      const std::any found = std::exchange(found_, {});
      const auto* state = std::any_cast<State>(&found);
      return state == nullptr ? State{} : *state;
    }
    /// For the next holder.
    void leave(std::any state);

   private:
    friend class CarryOver;
    std::shared_ptr<Entry> entry_;
    std::uint64_t turn_ = 0;
    std::any found_;
  };

  /// `source` names it below its registration, the directory of the device or interface: "1/hw_counters".
  Slot take(const host::FileId& registration, const std::string& source);

  /// Forgets all other registrations. Whoever holds a slot of theirs may go on with it.
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
  std::vector<Source> sources_;  ///< some per port: looked through when devices come and go only
};

}  // namespace rdma_exporter::collectors
