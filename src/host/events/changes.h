// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace rdma_exporter::host {

/// Tells what has changed since somebody last looked: a number for each device or network interface, which
/// grows with each kernel notification about it. A reader of facts that change rarely remembers the number
/// and reads the facts again when it differs, so that a thousand events between two collections cost one
/// reading. Names share the numbers of a fixed table by their hash: a collision costs one reading too many,
/// never one too few. Thread-safe. Ask for the number before you read the facts: then they belong to that
/// number or a later one. The numbers are loaded with acquire order, because a CPU might otherwise load them
/// after the facts.
class Changes {
 public:
  /// Something of this device or interface has changed.
  void note(std::string_view name) { slot(name).fetch_add(1, std::memory_order_release); }
  /// Devices came, went or moved to another network namespace, or notifications were lost: everything has to
  /// be read again.
  void note_all() { all_.fetch_add(1, std::memory_order_release); }

  /// A network interface came, went, was renamed or changed. A rename is noted under the new name only: who
  /// knows the old name has to check whether it still exists.
  void note_links() { links_.fetch_add(1, std::memory_order_release); }

  /// Whether all changes of devices, interfaces and the relations between them are noted here. Until this is
  /// set, readers have to look for changes themselves. Changes that were missed before are noted first.
  void set_complete(bool complete) { complete_.store(complete, std::memory_order_release); }
  /// Ask this before you ask for the numbers.
  bool complete() const { return complete_.load(std::memory_order_acquire); }

  /// Grows with each note_links().
  std::uint64_t links() const { return links_.load(std::memory_order_acquire); }
  /// Grows with each note() of this name and with each note_all().
  std::uint64_t of(std::string_view name) const {
    return all() + slots_[index(name)].load(std::memory_order_acquire);
  }
  /// Grows with each note_all() only.
  std::uint64_t all() const { return all_.load(std::memory_order_acquire); }

 private:
  // On a host that starts containers all day there are many names: with this many slots they rarely share one
  // with ours.
  static constexpr std::size_t kSlots = 1024;

  static std::size_t index(std::string_view name) { return std::hash<std::string_view>{}(name) % kSlots; }
  std::atomic<std::uint64_t>& slot(std::string_view name) { return slots_[index(name)]; }

  std::atomic<bool> complete_{false};
  std::atomic<std::uint64_t> all_{0};
  std::atomic<std::uint64_t> links_{0};
  std::array<std::atomic<std::uint64_t>, kSlots> slots_{};
};

}  // namespace rdma_exporter::host
