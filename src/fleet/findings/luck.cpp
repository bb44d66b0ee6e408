// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/luck.h"

#include <cmath>
#include <numeric>

namespace rdma_exporter::fleet {
namespace {

constexpr double kClear = 1e-9;

}  // namespace

double tail(double n, double k, double p) {
  if (p >= 1) return 1;
  double sum = 0;
  const double first = std::ceil(k);
  for (unsigned more = 0; first + more <= n; ++more) {
    const double i = first + more;
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(p) +
                    (n - i) * std::log1p(-p));
  }
  return sum;
}

double Luck::value() const {
  const double expected = std::accumulate(chances_.begin(), chances_.end(), 0.0);
  const auto bad = static_cast<double>(bad_);
  if (bad <= expected) return 1;
  const double bound = std::exp(bad - expected - bad * std::log(bad / expected));
  return bound < kClear ? bound : exact();
}

double Luck::exact() const {
  std::vector<double> fewer{1};  // P(so many), below `bad_`
  fewer.resize(bad_);
  double enough = 0;
  for (const double chance : chances_) {
    enough += fewer.back() * chance;
    for (std::size_t count = bad_ - 1; count > 0; --count)
      fewer[count] = fewer[count] * (1 - chance) + fewer[count - 1] * chance;
    fewer[0] *= 1 - chance;
  }
  return enough;
}

}  // namespace rdma_exporter::fleet
