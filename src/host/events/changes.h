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

/// What has changed since somebody last looked: a number for each device or network interface that grows when
/// the kernel told of it. Who keeps facts that change rarely remembers the number and reads them again when
/// it is another one; so a thousand events between two collections cost one reading. Names share the numbers
/// of a fixed table by their hash: a collision costs a reading too many, never one too few. Thread-safe. Who
/// asks for a number first and reads the facts then has either the facts of that number or newer ones: the
/// numbers are loaded with acquire, for a CPU that may otherwise put off the load until after the reading.
class Changes {
 public:
  /// Something of this device or interface has changed.
  void note(std::string_view name) { slot(name).fetch_add(1, std::memory_order_release); }
  /// Devices came, went or changed hands, or messages were lost: look at everything again.
  void note_all() { all_.fetch_add(1, std::memory_order_release); }

  /// Some network interface came, went, got another name or changed. Under its new name alone: who knows an
  /// interface by the old one has to look whether it is still there.
  void note_links() { links_.fetch_add(1, std::memory_order_release); }

  /// Whether everything of that kind is noted here: devices, interfaces and the ties between them. Otherwise,
  /// which is how it begins, one has to look. What was missed before is noted first.
  void set_complete(bool complete) { complete_.store(complete, std::memory_order_release); }
  /// Ask before the numbers.
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
  // A host that starts containers all day has names in plenty: with this many slots they seldom meet ours.
  static constexpr std::size_t kSlots = 1024;

  static std::size_t index(std::string_view name) { return std::hash<std::string_view>{}(name) % kSlots; }
  std::atomic<std::uint64_t>& slot(std::string_view name) { return slots_[index(name)]; }

  std::atomic<bool> complete_{false};
  std::atomic<std::uint64_t> all_{0};
  std::atomic<std::uint64_t> links_{0};
  std::array<std::atomic<std::uint64_t>, kSlots> slots_{};
};

}  // namespace rdma_exporter::host
