// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/policy/policy_guard.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "asio/ssl.h"
#include "tests/unit/support/certificates.h"
#include "tests/unit/support/temp_tree.h"
#include "web/policy/policy_loader.h"

// What a file may change in a running server. Torn files are judged by what OpenSSL then asks of clients.
namespace rdma_exporter::web {
namespace {

using PolicyPtr = std::shared_ptr<const Policy>;

class WebPolicyGuard : public testing::Test {
 protected:
  WebPolicyGuard() {
    authority.issue("server");
    std::filesystem::permissions(tree.root() + "/pki/server.key", std::filesystem::perms::owner_read);
    Authority(tree.root() + "/other");
    // A path that was cut is the path of another file.
    std::filesystem::copy(tree.root() + "/other/ca.pem", tree.root() + "/pki/ca.pe");
  }

  core::Result<PolicyPtr> load(const std::string& text) {
    tree.write("web.yml", text);
    return load_policy(path).policy;
  }
  PolicyPtr good(const std::string& text) {
    auto policy = load(text);
    EXPECT_TRUE(policy) << policy.error().context.text() << "\n" << text;
    return *policy;
  }
  /// What is said when `next` shall follow `now`; empty: it may.
  std::string problem(const std::string& now, const std::string& next) {
    PolicyGuard guard;
    const PolicyPtr before = good(now);
    guard.accept(*before);
    const auto done = guard.check(*before, *good(next), "web.yml");
    return done ? "" : done.error().context.text();
  }

  static constexpr std::string_view kHash = "$2y$04$LJh2Jn1ZEwsnt6zUhqyzm.CkDBRiP3J9m0MxHJ.LPHPh2N3q5BZ0W";
  const std::string kTls = "tls_server_config:\n  cert_file: pki/server.pem\n  key_file: pki/server.key\n";
  const std::string kVerify =
      "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: pki/ca.pem\n";
  const std::string kSans = "  client_allowed_sans: [prometheus.example, backup.example]\n";
  const std::string kUsers = "basic_auth_users:\n  alice: " + std::string(kHash) + "\n";

  test::TempTree tree;
  Authority authority{tree.root() + "/pki"};
  std::string path = tree.root() + "/web.yml";
};

std::set<std::string> suites_of(const Policy& policy) {
  std::set<std::string> names;
  const STACK_OF(SSL_CIPHER)* const all = ::SSL_CTX_get_ciphers(policy.tls->native_handle());
  for (int i = 0; i < sk_SSL_CIPHER_num(all); ++i)
    names.insert(::SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i)));
  return names;
}

std::set<std::string> sans_of(const Policy& policy) {
  return {policy.tls_rules.allowed_sans.begin(), policy.tls_rules.allowed_sans.end()};
}

int trusted_of(const Policy& policy) {
  const X509_STORE* const store = ::SSL_CTX_get_cert_store(policy.tls->native_handle());
  return sk_X509_OBJECT_num(::X509_STORE_get0_objects(store));
}

bool within(const std::set<std::string>& inner, const std::set<std::string>& outer) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

void expect_no_weaker(const Policy& whole, const Policy& torn) {
  if (whole.tls) {
    ASSERT_TRUE(torn.tls);
    SSL_CTX* const before = whole.tls->native_handle();
    SSL_CTX* const after = torn.tls->native_handle();
    EXPECT_EQ(::SSL_CTX_get_verify_mode(before) & ~::SSL_CTX_get_verify_mode(after), 0);
    EXPECT_GE(SSL_CTX_get_min_proto_version(after), SSL_CTX_get_min_proto_version(before));
    EXPECT_EQ(trusted_of(torn), trusted_of(whole)) << "0: the trust store of the host";
    EXPECT_TRUE(within(suites_of(torn), suites_of(whole)));
    EXPECT_EQ(torn.tls_rules.client_ca, whole.tls_rules.client_ca);
    if (!whole.tls_rules.allowed_sans.empty()) {
      EXPECT_FALSE(torn.tls_rules.allowed_sans.empty());
      EXPECT_TRUE(within(sans_of(torn), sans_of(whole)));
    }
  }
  EXPECT_EQ(torn.users.empty(), whole.users.empty());
  for (const auto& [name, hash] : torn.users) EXPECT_EQ(whole.users.at(name), hash);
  if (!whole.rate_limit) return;
  ASSERT_TRUE(torn.rate_limit);
  EXPECT_GE(torn.rate_limit->interval, whole.rate_limit->interval);
  EXPECT_LE(torn.rate_limit->burst, whole.rate_limit->burst);
}

TEST_F(WebPolicyGuard, LetsNoFileThatIsCutAtAnyByteWeakenAnything) {
  const std::string rate = "rate_limit:\n  interval: 100ms\n  burst: 25\n";
  const std::string bob = "  bob: '" + std::string(kHash) + "'\n";
  const std::string strict = "  min_version: TLS13\n  curve_preferences: [CurveP384, X25519]\n";
  const std::string suites =
      "  cipher_suites:\n    - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384\n    - "
      "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384\n";
  const std::vector<std::string> layouts = {
      kTls + kVerify + "  client_allowed_sans:\n    - a.example\n    - b.example\n" + strict + kUsers + bob +
          rate,
      rate + kUsers + bob + kTls + suites + "  min_version: TLS12\n" + kSans + kVerify,
      "basic_auth_users: {alice: '" + std::string(kHash) +
          "'}\ntls_server_config: {min_version: TLS13, cert_file: pki/server.pem, key_file: pki/server.key, "
          "client_ca_file: pki/ca.pem, client_auth_type: RequireAndVerifyClientCert}\n",
      kTls + "  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: pki/ca.pem\n" + rate + kUsers,
      kTls + "  client_auth_type: RequireAnyClientCert\n" + kSans + suites + kUsers + bob};
  int refused = 0;
  for (const std::string& layout : layouts) {
    const PolicyPtr whole = good(layout);
    PolicyGuard guard;
    guard.accept(*whole);
    for (std::size_t cut = 0; cut < layout.size(); ++cut) {
      const auto torn = load(layout.substr(0, cut));
      if (!torn) continue;
      const auto may_follow = guard.check(*whole, **torn, path);
      if (!may_follow) ++refused;
      if (!may_follow) continue;
      SCOPED_TRACE(layout.substr(0, cut) + "<- cut here");
      expect_no_weaker(*whole, **torn);
      EXPECT_TRUE(guard.check(**torn, *whole, path)) << "the whole file must be able to follow";
    }
  }
  EXPECT_GT(refused, 100) << "cuts that are valid files and ask for less";
}

TEST_F(WebPolicyGuard, NamesEverythingThatWouldBeWeaker) {
  EXPECT_EQ(
      problem(kTls + kVerify + kSans + "  min_version: TLS13\n" + kUsers, kTls),
      "web.yml: would weaken the security in force: clients would no longer need a certificate "
      "(client_auth_type), "
      "client certificates would no longer be verified (client_auth_type), any CA that this host trusts "
      "would be accepted (client_ca_file), other clients would be accepted (client_allowed_sans), an older "
      "TLS version "
      "would be accepted (min_version), it no longer has basic_auth_users; if this is intended, restart the "
      "exporter");
  EXPECT_EQ(
      problem(kTls + kUsers, kUsers),
      "web.yml: would weaken the security in force: it no longer has tls_server_config; if this is intended, "
      "restart the exporter");
  EXPECT_EQ(
      problem(kTls + kVerify, kTls + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: "
                                     "other/ca.pem\n"),
      "web.yml: would weaken the security in force: another CA would be trusted (client_ca_file); if this is "
      "intended, restart the exporter");
}

TEST_F(WebPolicyGuard, RefusesEachThingAlone) {
  const std::string rate = "rate_limit: {interval: 100ms, burst: 5}\n";
  const std::string one_suite = "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n";
  const std::vector<std::pair<std::string, std::string>> weaker = {
      {kTls + kVerify, kTls + "  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: pki/ca.pem\n"},
      {kTls + kVerify, kTls + "  client_auth_type: RequireAnyClientCert\n  client_ca_file: pki/ca.pem\n"},
      {kTls + kVerify, kTls + "  client_auth_type: RequireAndVerifyClientCert\n"},
      {kTls + kVerify + kSans, kTls + kVerify},
      {kTls + kVerify + kSans, kTls + kVerify + "  client_allowed_sans: [prometheus.exampl]\n"},
      {kTls, kTls + "  min_version: TLS11\n"},
      {kTls, kTls + "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA]\n"},
      {kTls + one_suite, kTls},
      {kTls + "  curve_preferences: [X25519]\n", kTls},
      {rate, ""},
      {rate, "rate_limit: {interval: 10ms, burst: 5}\n"},
      {rate, "rate_limit: {interval: 100ms, burst: 50}\n"}};
  for (const auto& [now, next] : weaker)
    EXPECT_NE(problem(now, next).find("restart the exporter"), std::string::npos) << now << "->\n" << next;
}

TEST_F(WebPolicyGuard, LetsThroughWhatIsStricterOrAsStrict) {
  const std::string bob = "  bob: " + std::string(kHash) + "\n";
  const std::vector<std::pair<std::string, std::string>> allowed = {
      {"", kTls + kVerify + kSans + kUsers},
      {kTls, kTls + kVerify},
      {kTls + kVerify, kTls + kVerify + kSans + "  min_version: TLS13\n"},
      {kTls + kVerify + kSans, kTls + kVerify + "  client_allowed_sans: [backup.example]\n"},
      {kUsers, kUsers + bob},
      {kUsers + bob, kUsers},
      {kTls, kTls + "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n"},
      {kTls + "  client_auth_type: RequestClientCert\n", kTls},
      {"", "rate_limit: {interval: 1s, burst: 5}\n"},
      {"rate_limit: {interval: 1s, burst: 5}\n", "rate_limit: {interval: 2s, burst: 1}\n"}};
  for (const auto& [now, next] : allowed) EXPECT_EQ(problem(now, next), "") << now << "->\n" << next;
}

}  // namespace
}  // namespace rdma_exporter::web
