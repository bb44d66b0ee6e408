// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/selection.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "probe/stable_hash.h"

namespace rdma_exporter::probe {
namespace {

// Two names of one hash are in the order of the alphabet.
bool in_order(const std::string& a, const std::string& b) {
  return std::forward_as_tuple(stable_hash(a), a) < std::forward_as_tuple(stable_hash(b), b);
}

}  // namespace

Selection::Selection(std::vector<Member> members) {
  std::map<std::string, std::vector<std::string>> kinds;
  std::set<std::string> seen;
  for (Member& member : members)
    if (seen.insert(member.name).second) kinds[member.kind].push_back(std::move(member.name));
  for (auto& [kind, names] : kinds) {
    std::sort(names.begin(), names.end(), in_order);
    circles_.push_back(std::move(names));
  }
}

bool Selection::find(std::string_view self, Place& place) const {
  const std::string name(self);
  for (std::size_t circle = 0; circle < circles_.size(); ++circle) {
    const auto& names = circles_[circle];
    const auto it = std::lower_bound(names.begin(), names.end(), name, in_order);
    if (it == names.end() || *it != name) continue;
    place = {circle, static_cast<std::size_t>(it - names.begin())};
    return true;
  }
  return false;
}

std::size_t Selection::slots(const Place& self, Scope scope) const {
  if (scope == Scope::same) return circles_[self.circle].size() - 1;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < circles_.size(); ++i)
    if (i != self.circle) largest = std::max(largest, circles_[i].size());
  return (circles_.size() - 1) * largest;
}

std::size_t Selection::slots(std::string_view self, Scope scope) const {
  Place place{};
  return find(self, place) ? slots(place, scope) : 0;
}

const std::string& Selection::at(const Place& self, Scope scope, std::size_t slot) const {
  if (scope == Scope::same) {
    const auto& names = circles_[self.circle];
    return names[(self.index + 1 + slot) % names.size()];
  }
  const std::size_t others = circles_.size() - 1;
  const auto& names = circles_[(self.circle + 1 + slot % others) % circles_.size()];
  // Places in proportion, so that a small kind does not crowd on the beginning of a large one.
  const std::size_t place = self.index * names.size() / circles_[self.circle].size();
  return names[(place + slot / others) % names.size()];
}

std::vector<Choice> Selection::choose(std::string_view self, Scope scope, std::size_t ring,
                                      std::size_t rotate, std::uint64_t epoch) const {
  Place place{};
  if (!find(self, place)) return {};
  const std::size_t all = slots(place, scope);
  const std::size_t kept = std::min(ring, all);
  const std::size_t rest = all - kept;
  std::vector<Choice> chosen;
  std::set<std::string_view> seen;
  const auto add = [&](std::size_t slot, bool rotating) {
    const std::string& name = at(place, scope, slot);
    if (seen.insert(name).second) chosen.push_back({name, rotating});
  };
  for (std::size_t slot = 0; slot < kept; ++slot) add(slot, false);
  for (std::size_t i = 0; i < std::min(rotate, rest); ++i) add(kept + (epoch * rotate + i) % rest, true);
  return chosen;
}

}  // namespace rdma_exporter::probe
