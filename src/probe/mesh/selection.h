// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rdma_exporter::probe {

/// A host of the fleet. `kind` is the value of the label used for selection (rail, group); empty if none is
/// used.
struct Member {
  std::string name;
  std::string kind;
};

enum class Scope : unsigned char {
  same,   ///< members of this host's kind
  other,  ///< members of all other kinds
};

struct Choice {
  std::string_view name;  ///< points into the Selection
  bool rotating;          ///< for this epoch only
};

/// Whom each host of a fleet probes. Each host decides alone from the same list, without a coordinator.
///
/// Each kind of hosts forms a ring, in the order of a hash of their names. A host always probes the next
/// `ring` hosts: in scope `same` those that follow it, so that each host is probed by as many hosts as it
/// probes; in scope `other` those that follow its own place in the rings of the other kinds, one kind after
/// the other.
///
/// For the rotation, each pair of hosts has a place on a circle that depends on nothing else. An epoch is an
/// arc of this circle, and its pairs are probed: `rotate` per host on average, at most kMaxShare times as
/// many. The arcs start at the values of the van der Corput sequence, so that any 2^k consecutive epochs
/// cover the circle if their arcs are 2^(1-k) long: every pair has its turn within epochs_to_cover() epochs.
/// A host that joins or leaves changes its own pairs, and the length of arcs by one part in as many as there
/// are hosts.
class Selection {
 public:
  /// Of several members with the same name only the first counts.
  explicit Selection(std::vector<Member> members);

  /// The choice of `self`, without repetition; empty if it is not a member. `epoch` is the number of epochs
  /// since 1970, so that hosts with correct clocks agree.
  std::vector<Choice> choose(std::string_view self, Scope scope, std::size_t ring, std::size_t rotate,
                             std::uint64_t epoch) const;
  /// Number of hosts that `self` can choose in the scope; in scope `same`, the other members of its kind.
  std::size_t candidates(std::string_view self, Scope scope) const;
  /// Number of epochs in which every pair has its turn; 1 if each epoch has all of them.
  static std::uint64_t epochs_to_cover(std::size_t candidates, std::size_t rotate);

  static constexpr std::size_t kMaxShare = 4;

 private:
  /// A host at its place; names with equal hashes are in alphabetical order.
  struct Host {
    std::uint64_t hash;
    std::string name;
    auto operator<=>(const Host&) const = default;
  };
  struct Place {
    std::size_t circle;
    std::size_t index;
  };
  bool find(std::string_view self, Place& place) const;
  std::size_t candidates(const Place& self, Scope scope) const;
  std::vector<const Host*> steady(const Place& self, Scope scope, std::size_t ring) const;

  using Circle = std::vector<Host>;

  std::vector<Circle> circles_;  // by kind in order; hosts in order
};

}  // namespace rdma_exporter::probe
