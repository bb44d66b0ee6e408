// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/selection.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "probe/mesh/stable_hash.h"

namespace rdma_exporter::probe {
namespace {

constexpr std::uint64_t kCircle = ~std::uint64_t{0};

// The van der Corput sequence in base 2, as a 64-bit fraction.
std::uint64_t reversed(std::uint64_t number) {
  std::uint64_t result = 0;
  for (int bit = 0; bit < 64; ++bit, number >>= 1) result = result << 1 | (number & 1);
  return result;
}

// The place of a pair on the circle; the order of the two matters.
std::uint64_t place_of_pair(std::uint64_t from, std::uint64_t to) { return mixed(from + mixed(to)); }

}  // namespace

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

std::size_t Selection::candidates(const Place& self, Scope scope) const {
  if (scope == Scope::same) return circles_[self.circle].size() - 1;
  std::size_t others = 0;
  for (std::size_t i = 0; i < circles_.size(); ++i)
    if (i != self.circle) others += circles_[i].size();
  return others;
}

std::size_t Selection::candidates(std::string_view self, Scope scope) const {
  Place place{};
  return find(self, place) ? candidates(place, scope) : 0;
}

std::uint64_t Selection::epochs_to_cover(std::size_t candidates, std::size_t rotate) {
  if (rotate == 0 || candidates <= rotate) return 1;
  return std::bit_ceil((2 * std::uint64_t{candidates} + rotate - 1) / rotate);
}

std::vector<const Selection::Host*> Selection::steady(const Place& self, Scope scope,
                                                      std::size_t ring) const {
  std::vector<const Host*> chosen;
  const std::size_t most = std::min(ring, candidates(self, scope));
  const std::size_t kinds = circles_.size();
  const Circle& own = circles_[self.circle];
  for (std::size_t slot = 0; chosen.size() < most; ++slot) {
    if (scope == Scope::same) {
      chosen.push_back(&own[(self.index + 1 + slot) % own.size()]);
      continue;
    }
    const Circle& hosts = circles_[(self.circle + 1 + slot % (kinds - 1)) % kinds];
    const std::size_t further = slot / (kinds - 1);
    if (further >= hosts.size()) continue;
    const auto behind = std::lower_bound(hosts.begin(), hosts.end(), own[self.index]) - hosts.begin();
    chosen.push_back(&hosts[(static_cast<std::size_t>(behind) + further) % hosts.size()]);
  }
  return chosen;
}

std::vector<Choice> Selection::choose(std::string_view self, Scope scope, std::size_t ring,
                                      std::size_t rotate, std::uint64_t epoch) const {
  Place place{};
  if (!find(self, place)) return {};
  const auto kept = steady(place, scope, ring);
  std::vector<Choice> chosen;
  std::set<std::string_view> seen;
  for (const Host* host : kept) {
    seen.insert(host->name);
    chosen.push_back({host->name, false});
  }
  const std::size_t rest = candidates(place, scope) - kept.size();
  if (rotate == 0 || rest == 0) return chosen;
  const Host& own = circles_[place.circle][place.index];
  const std::uint64_t arc = rest <= rotate ? kCircle : kCircle / rest * rotate;
  const std::uint64_t begin = reversed(epoch);
  std::vector<std::pair<std::uint64_t, std::string_view>> due;
  for (std::size_t i = 0; i < circles_.size(); ++i) {
    if ((i == place.circle) != (scope == Scope::same)) continue;
    for (const Host& host : circles_[i]) {
      const std::uint64_t along = place_of_pair(own.hash, host.hash) - begin;
      if (along <= arc && &host != &own && !seen.contains(host.name)) due.emplace_back(along, host.name);
    }
  }
  std::sort(due.begin(), due.end());
  if (due.size() > kMaxShare * rotate) due.resize(kMaxShare * rotate);
  for (const auto& [along, name] : due) chosen.push_back({name, true});
  return chosen;
}

}  // namespace rdma_exporter::probe
