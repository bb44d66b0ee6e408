// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/policy/policy_guard.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace rdma_exporter::web {
namespace {

using Names = std::vector<std::string>;

void add(std::string& list, bool weaker, std::string_view what) {
  if (!weaker) return;
  if (!list.empty()) list += ", ";
  list += what;
}

// An empty list allows everything.
bool widens(const Names& now, const Names& next, const std::set<std::string>& known) {
  if (now.empty()) return false;
  return next.empty() || std::any_of(next.begin(), next.end(),
                                     [&](const std::string& name) { return !known.contains(name); });
}

}  // namespace

std::string PolicyGuard::weaker_tls(const TlsRules& now, const TlsRules& next) const {
  std::string weaker;
  add(weaker, now.requires_certificate && !next.requires_certificate,
      "clients would no longer need a certificate (client_auth_type)");
  add(weaker, now.verifies_certificate && !next.verifies_certificate,
      "client certificates would no longer be verified (client_auth_type)");
  add(weaker, now.verifies_certificate && !now.client_ca.empty() && next.client_ca != now.client_ca,
      next.client_ca.empty() ? "any CA that this host trusts would be accepted (client_ca_file)"
                             : "another CA would be trusted (client_ca_file)");
  add(weaker, widens(now.allowed_sans, next.allowed_sans, sans_),
      "other clients would be accepted (client_allowed_sans)");
  add(weaker, next.min_version < now.min_version, "an older TLS version would be accepted (min_version)");
  const bool has_suites = next.min_version < config::TlsVersion::tls13;
  add(weaker, has_suites && widens(now.cipher_suites, next.cipher_suites, suites_),
      "other cipher suites would be accepted (cipher_suites)");
  add(weaker, widens(now.curves, next.curves, curves_), "other curves would be accepted (curve_preferences)");
  return weaker;
}

bool PolicyGuard::allows_more(const std::optional<config::RateLimit>& next) const {
  if (!rate_limit_) return false;
  return !next || next->interval < rate_limit_->interval || next->burst > rate_limit_->burst;
}

core::Result<void> PolicyGuard::check(const Policy& now, const Policy& next, const std::string& path) const {
  std::string weaker;
  add(weaker, now.tls && !next.tls, "it no longer has tls_server_config");
  if (now.tls && next.tls) {
    const std::string tls = weaker_tls(now.tls_rules, next.tls_rules);
    add(weaker, !tls.empty(), tls);
  }
  add(weaker, !now.users.empty() && next.users.empty(), "it no longer has basic_auth_users");
  add(weaker, now.rate_limit && allows_more(next.rate_limit), "more requests would be accepted (rate_limit)");
  if (weaker.empty()) return {};
  return core::config_error(path + ": would weaken the security in force: " + weaker +
                            "; if this is intended, restart the exporter");
}

void PolicyGuard::accept(const Policy& policy) {
  const TlsRules& tls = policy.tls_rules;
  sans_.insert(tls.allowed_sans.begin(), tls.allowed_sans.end());
  suites_.insert(tls.cipher_suites.begin(), tls.cipher_suites.end());
  curves_.insert(tls.curves.begin(), tls.curves.end());
  if (!policy.rate_limit) return;
  if (!rate_limit_) rate_limit_ = policy.rate_limit;
  rate_limit_->interval = std::min(rate_limit_->interval, policy.rate_limit->interval);
  rate_limit_->burst = std::max(rate_limit_->burst, policy.rate_limit->burst);
}

}  // namespace rdma_exporter::web
