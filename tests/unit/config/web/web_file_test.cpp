// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/web/web_file.h"

#include <gtest/gtest.h>

#include <string>

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHash = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";
const std::string kTls = "tls_server_config:\n  cert_file: c.pem\n  key_file: k.pem\n";

std::string problem(const std::string& text) {
  const auto file = parse_web_file(text, "/etc/x/web.yml");
  return file ? "accepted" : file.error().context.text();
}
std::string tls_problem(const std::string& line) { return problem(kTls + "  " + line + "\n"); }

TEST(ConfigWebFile, ReadsEveryKey) {
  const auto file =
      parse_web_file(
          R"(tls_server_config:
  cert_file: server.pem
  key_file: /keys/server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca/clients.pem
  client_allowed_sans: [prometheus.example, 192.0.2.1]
  cipher_suites:
    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
    - TLS_AES_128_GCM_SHA256
    - TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP384]
  min_version: TLS12
  max_version: TLS13
http_server_config:
  http2: true
  headers:
    Content-Security-Policy: "default-src 'none'"
    Strict-Transport-Security: max-age=1
    X-Content-Type-Options: nosniff
    X-Frame-Options: sameorigin
    X-XSS-Protection: ""
basic_auth_users:
  alice: )" + std::string(kHash) +
              R"(
rate_limit:
  interval: 1s500ms
  burst: 20
)",
          "/etc/x/web.yml");
  ASSERT_TRUE(file) << file.error().context.text();
  const TlsServer& tls = file->tls.value();
  EXPECT_EQ(tls.certificate.path, "/etc/x/server.pem");
  EXPECT_EQ(tls.certificate.where, "/etc/x/web.yml:2: tls_server_config.cert_file");
  EXPECT_EQ(tls.key.path, "/keys/server.key");
  EXPECT_EQ(tls.client_ca.path, "/etc/x/ca/clients.pem");
  EXPECT_EQ(tls.client_auth, ClientAuth::require_and_verify);
  EXPECT_EQ(tls.client_allowed_sans, (std::vector<std::string>{"prometheus.example", "192.0.2.1"}));
  EXPECT_EQ(tls.cipher_suites,
            (std::vector<std::string>{"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}));
  EXPECT_FALSE(tls.prefer_server_cipher_suites);
  EXPECT_EQ(tls.curves, (std::vector<std::string>{"X25519", "P-384"}));
  EXPECT_TRUE(file->http2_asked_for);
  EXPECT_EQ(file->headers.size(), 4U) << "a blank one is not sent";
  EXPECT_EQ(file->users.at("alice"), kHash);
  EXPECT_EQ(file->rate_limit, (RateLimit{1500ms, 20}));
}

TEST(ConfigWebFile, MayBeEmpty) {
  for (const char* text : {"", "---\n", "http_server_config:\n  headers:\n", "rate_limit:\n",
                           "rate_limit:\n  interval: 0\n  burst: 0\n"}) {
    const auto file = parse_web_file(text, "web.yml");
    ASSERT_TRUE(file) << text << file.error().context.text();
    EXPECT_FALSE(file->tls) << text;
    EXPECT_TRUE(file->users.empty()) << text;
    EXPECT_FALSE(file->rate_limit) << text;
  }
}

TEST(ConfigWebFile, HasNoEmptySectionThatWouldLeaveTheEndpointOpen) {
  for (const char* nothing : {"", " {}", " []"}) {
    EXPECT_EQ(problem(std::string("tls_server_config:") + nothing + "\n"),
              "/etc/x/web.yml:1: tls_server_config: is empty (remove the key to serve without TLS)");
    EXPECT_EQ(problem(std::string("basic_auth_users:") + nothing + "\n"),
              "/etc/x/web.yml:1: basic_auth_users: is empty (remove the key to serve without passwords)");
  }
}

TEST(ConfigWebFile, TakesKeysThatStandInTheFile) {
  const auto file = parse_web_file("tls_server_config:\n  cert: |\n    a\n    b\n  key: k\n", "web.yml");
  ASSERT_TRUE(file) << file.error().context.text();
  EXPECT_EQ(file->tls->certificate.text, "a\nb\n");
  EXPECT_EQ(file->tls->key.text, "k");
}

TEST(ConfigWebFile, RefusesUnknownAndRepeatedKeysWithTheirLine) {
  EXPECT_EQ(problem("tls_server_confg:\n"),
            "/etc/x/web.yml:1: tls_server_confg: unknown key (did you mean tls_server_config?)");
  EXPECT_EQ(tls_problem("certfile: x"),
            "/etc/x/web.yml:4: tls_server_config.certfile: unknown key (did you mean "
            "tls_server_config.cert_file?)");
  EXPECT_EQ(tls_problem("min_version: TLS12\n  min_version: TLS12"),
            "/etc/x/web.yml:5: tls_server_config.min_version: is given twice (first on line 4)");
  EXPECT_EQ(problem("http_server_config:\n  headers:\n    X-Frame: deny\n"),
            "/etc/x/web.yml:3: http_server_config.headers.X-Frame: unknown key (use the keys "
            "Content-Security-Policy, "
            "Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options or X-XSS-Protection)");
}

TEST(ConfigWebFile, RefusesValuesThatAreNotKnown) {
  EXPECT_EQ(tls_problem("min_version: TLS1.2"),
            "/etc/x/web.yml:4: tls_server_config.min_version: \"TLS1.2\" is not a valid value (use TLS10, "
            "TLS11, TLS12 or "
            "TLS13)");
  EXPECT_EQ(tls_problem("curve_preferences:\n    - X25519\n    - P256"),
            "/etc/x/web.yml:6: tls_server_config.curve_preferences: \"P256\" is not a valid value (use "
            "X25519, CurveP256, "
            "CurveP384 or CurveP521)");
  EXPECT_TRUE(tls_problem("cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]").find("is not a valid value") !=
              std::string::npos);
  EXPECT_TRUE(tls_problem("client_auth_type: Require").find("is not a valid value") != std::string::npos);
  EXPECT_EQ(tls_problem("prefer_server_cipher_suites: maybe"),
            "/etc/x/web.yml:4: tls_server_config.prefer_server_cipher_suites: \"maybe\" is not a boolean "
            "(use true or false)");
  EXPECT_EQ(
      problem("http_server_config:\n  headers:\n    X-Frame-Options: allow\n"),
      "/etc/x/web.yml:3: http_server_config.headers.X-Frame-Options: \"allow\" is not allowed (use deny or "
      "sameorigin)");
}

TEST(ConfigWebFile, RefusesAHeaderThatWouldBeginAnother) {
  EXPECT_EQ(problem("http_server_config:\n  headers:\n    X-XSS-Protection: \"1\\r\\nSet-Cookie: a\"\n"),
            "/etc/x/web.yml:3: http_server_config.headers.X-XSS-Protection: may contain only printable "
            "ASCII characters");
}

TEST(ConfigWebFile, RefusesTlsThatContradictsItself) {
  EXPECT_EQ(problem("tls_server_config:\n  key_file: k\n"),
            "/etc/x/web.yml:1: tls_server_config: cert_file is missing (or cert)");
  EXPECT_EQ(problem("tls_server_config:\n  cert_file: c\n"),
            "/etc/x/web.yml:1: tls_server_config: key_file is missing (or key)");
  EXPECT_EQ(tls_problem("cert: text"),
            "/etc/x/web.yml:4: tls_server_config.cert: is given both here and as a file (use one)");
  EXPECT_EQ(tls_problem("min_version: TLS13\n  max_version: TLS12"),
            "/etc/x/web.yml:1: tls_server_config: max_version is below min_version");
  EXPECT_EQ(
      tls_problem("client_ca_file: ca.pem"),
      "/etc/x/web.yml:1: tls_server_config: a client CA needs a client_auth_type other than NoClientCert");
  EXPECT_NE(tls_problem("client_allowed_sans: [a]\n  client_auth_type: VerifyClientCertIfGiven"), "accepted");
  EXPECT_NE(tls_problem("client_allowed_sans: [a]"), "accepted");
}

TEST(ConfigWebFile, MeansTls13WithAListOfItsSuitesAlone) {
  const std::string suites = "  cipher_suites: [TLS_AES_256_GCM_SHA384]\n";
  const auto file = parse_web_file(kTls + suites, "web.yml");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tls->min_version, TlsVersion::tls13);
  EXPECT_NE(problem(kTls + suites + "  max_version: TLS12\n"), "accepted");
}

TEST(ConfigWebFile, RefusesWhatIsNoBcryptHashAndDoesNotRepeatIt) {
  const auto user = [](std::string_view hash) {
    return problem("basic_auth_users:\n  bob: '" + std::string(hash) + "'\n");
  };
  EXPECT_EQ(user(kHash), "accepted");
  EXPECT_EQ(user("secret"),
            "/etc/x/web.yml:2: basic_auth_users.\"bob\": is not a bcrypt hash (make one with htpasswd "
            "-nBC 10 \"\" | tr -d ':\\n')");
  EXPECT_NE(user(kHash.substr(0, 59)), "accepted");
  EXPECT_NE(user("$1$" + std::string(kHash.substr(3))), "accepted");
  const auto cost = [&](const std::string& digits) {
    return user("$2b$" + digits + std::string(kHash.substr(6)));
  };
  EXPECT_EQ(cost("04"), "accepted");
  EXPECT_EQ(cost("16"), "accepted");
  for (const char* digits : {"03", "17", "31", "1x", "x1", "  "})
    EXPECT_NE(cost(digits).find(".\"bob\": has a cost"), std::string::npos) << digits;
  EXPECT_NE(problem("basic_auth_users:\n  \"a:b\": " + std::string(kHash) + "\n").find("colon"),
            std::string::npos);
  EXPECT_NE(problem("basic_auth_users:\n  bob:\n"), "accepted");
}

TEST(ConfigWebFile, RefusesARateLimitThatLetsNothingThrough) {
  EXPECT_EQ(problem("rate_limit:\n  interval: 1s\n"),
            "/etc/x/web.yml:1: rate_limit.burst: must be at least 1, or every request is refused");
  EXPECT_NE(problem("rate_limit:\n  interval: 1\n  burst: 1\n"), "accepted") << "1 of what?";
  EXPECT_NE(problem("rate_limit:\n  interval: 1s\n  burst: -1\n"), "accepted");
}

}  // namespace
}  // namespace rdma_exporter::config
