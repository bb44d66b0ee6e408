// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/selection.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probe/mesh/stable_hash.h"

namespace rdma_exporter::probe {

Selection::Selection(std::vector<Member> members) {
  std::map<std::string, Circle> kinds;
  std::set<std::string> seen;
  for (Member& member : members)
    if (seen.insert(member.name).second)
      kinds[member.kind].push_back({stable_hash(member.name), std::move(member.name)});
  for (auto& [kind, circle] : kinds) {
    std::sort(circle.begin(), circle.end());
    circles_.push_back(std::move(circle));
  }
}

bool Selection::find(std::string_view self, Place& place) const {
  const Host host{stable_hash(self), std::string(self)};
  for (std::size_t circle = 0; circle < circles_.size(); ++circle) {
    const Circle& hosts = circles_[circle];
    const auto it = std::lower_bound(hosts.begin(), hosts.end(), host);
    if (it == hosts.end() || *it != host) continue;
    place = {circle, static_cast<std::size_t>(it - hosts.begin())};
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
    const Circle& hosts = circles_[self.circle];
    return hosts[(self.index + 1 + slot) % hosts.size()].name;
  }
  const std::size_t others = circles_.size() - 1;
  const Circle& hosts = circles_[(self.circle + 1 + slot % others) % circles_.size()];
  // Places in proportion, so that a small kind does not crowd on the beginning of a large one.
  const std::size_t place = self.index * hosts.size() / circles_[self.circle].size();
  return hosts[(place + slot / others) % hosts.size()].name;
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
