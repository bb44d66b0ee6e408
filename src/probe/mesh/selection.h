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

/// A host of the fleet. `kind` is the value of the label that selection goes by (rail, group), empty if it
/// goes by none.
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

/// Whom each host of a fleet probes, decided by every host alone from the same list, without a coordinator.
///
/// All hosts stand in one circle per kind, in the order of a hash of their names. A host's candidates are
/// numbered slots: slot t of scope `same` is the host t + 1 places further on; slots of scope `other` go
/// round the other kinds and, within a kind, on from the place like this host's own. The first `ring` slots
/// are probed always; of the rest, `rotate` slots in each epoch, the next ones in the next epoch. In scope
/// `same`, and in scope `other` with kinds of equal size, each slot maps hosts to hosts one to one, so that
/// as many hosts probe a host as it probes, and all pairs are covered after ceil((slots - ring) / rotate)
/// epochs.
class Selection {
 public:
  /// Names that occur twice count once (the first one's kind).
  explicit Selection(std::vector<Member> members);

  /// The choice of `self`, without repetition; empty if it is not a member. `epoch` is the number of epochs
  /// since 1970, so that hosts with clocks agree.
  std::vector<Choice> choose(std::string_view self, Scope scope, std::size_t ring, std::size_t rotate,
                             std::uint64_t epoch) const;
  /// Slots that `self` has in the scope: with scope `same`, the other members of its kind.
  std::size_t slots(std::string_view self, Scope scope) const;

 private:
  struct Place {
    std::size_t circle;
    std::size_t index;
  };
  bool find(std::string_view self, Place& place) const;
  std::size_t slots(const Place& self, Scope scope) const;
  const std::string& at(const Place& self, Scope scope, std::size_t slot) const;

  /// A host at its place: two names of one hash are in the order of the alphabet.
  struct Host {
    std::uint64_t hash;
    std::string name;
    auto operator<=>(const Host&) const = default;
  };
  using Circle = std::vector<Host>;

  std::vector<Circle> circles_;  // by kind in order; hosts in order
};

}  // namespace rdma_exporter::probe
