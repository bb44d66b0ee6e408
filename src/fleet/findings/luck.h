// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <vector>

// How likely it is that so many paths are bad by chance.
namespace rdma_exporter::fleet {

inline constexpr double kUsual = 0.005;  ///< share of the paths that are bad by themselves
inline constexpr double kPrior = 8;      ///< paths as bad as usual that are added to the few of a host

/// P(X >= k) of a binomial distribution.
double tail(double n, double k, double p);

/// How likely it is that as many of some trials, each with a chance of its own, are bad.
class Luck {
 public:
  void add(double chance, bool bad) {
    chances_.push_back(chance);
    if (bad) ++bad_;
  }
  std::size_t trials() const { return chances_.size(); }

  /// P(X >= bad). Where that is clear without a sum over all of them, an upper bound (Chernoff) or 1: a leaf
  /// of a large fleet has tens of thousands of paths.
  double value() const;

 private:
  double exact() const;

  std::vector<double> chances_;
  std::size_t bad_ = 0;
};

}  // namespace rdma_exporter::fleet
