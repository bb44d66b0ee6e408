// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/tls/tls_context.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "asio/ssl.h"
#include "tests/unit/support/certificates.h"
#include "tests/unit/support/temp_tree.h"

// Which clients the server's TLS lets in: handshakes in memory.
namespace rdma_exporter::http {
namespace {

using config::ClientAuth;
using config::TlsVersion;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct FreeSsl {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
using ClientContext = std::unique_ptr<SSL_CTX, FreeSsl>;

class HttpTlsContext : public testing::Test {
 protected:
  HttpTlsContext() {
    const auto own = authority_.issue("server", "DNS:localhost");
    pem_.certificate = text_of(own.certificate);
    pem_.key = text_of(own.key);
    pem_.client_ca = text_of(authority_.file());
    settings_.client_ca.path = "ca.pem";
    settings_.client_ca.where = "web.yml:4: client_ca_file";
  }

  ClientContext client() {
    ClientContext made(::SSL_CTX_new(::TLS_client_method()));
    ::SSL_CTX_load_verify_locations(made.get(), authority_.file().c_str(), nullptr);
    ::SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
    return made;
  }
  ClientContext client_with(const Authority::Files& files) {
    ClientContext made = client();
    EXPECT_EQ(::SSL_CTX_use_certificate_file(made.get(), files.certificate.c_str(), SSL_FILETYPE_PEM), 1);
    EXPECT_EQ(::SSL_CTX_use_PrivateKey_file(made.get(), files.key.c_str(), SSL_FILETYPE_PEM), 1);
    return made;
  }

  /// Whether the server ends the handshake with the client as one of its own.
  bool lets_in(SSL_CTX* client_context) {
    const auto context = make_tls_context(settings_, pem_);
    EXPECT_TRUE(context) << context.error().context.text();
    if (!context) return false;
    const std::unique_ptr<SSL, FreeSsl> server(::SSL_new((*context)->native_handle()));
    const std::unique_ptr<SSL, FreeSsl> client(::SSL_new(client_context));
    BIO* near = nullptr;
    BIO* far = nullptr;
    ::BIO_new_bio_pair(&near, 0, &far, 0);
    ::SSL_set_bio(server.get(), near, near);
    ::SSL_set_bio(client.get(), far, far);
    ::SSL_set_accept_state(server.get());
    ::SSL_set_connect_state(client.get());
    constexpr int kTurns = 20;
    int served = 0;
    for (int i = 0; i < kTurns && served != 1; ++i) {
      ::SSL_do_handshake(client.get());
      served = ::SSL_do_handshake(server.get());
    }
    ::ERR_clear_error();
    return served == 1;
  }

  test::TempTree tree_;
  Authority authority_{tree_.root() + "/ours"};
  Authority strangers_{tree_.root() + "/strangers"};
  config::TlsServer settings_;
  PemTexts pem_;
};

TEST_F(HttpTlsContext, AsksClientsForWhatItsTypeOfAuthenticationSays) {
  struct Case {
    ClientAuth type;
    bool nobody, stranger;
  };
  const ClientContext nobody = client();
  const ClientContext stranger = client_with(strangers_.issue("client"));
  const ClientContext own = client_with(authority_.issue("client"));
  for (const Case& c :
       {Case{ClientAuth::none, true, true}, Case{ClientAuth::request, true, true},
        Case{ClientAuth::require_any, false, true}, Case{ClientAuth::verify_if_given, true, false},
        Case{ClientAuth::require_and_verify, false, false}}) {
    settings_.client_auth = c.type;
    const auto type = static_cast<unsigned>(c.type);
    EXPECT_EQ(lets_in(nobody.get()), c.nobody) << type << ": without a certificate";
    EXPECT_EQ(lets_in(stranger.get()), c.stranger) << type << ": of another authority";
    EXPECT_TRUE(lets_in(own.get())) << type;
  }
}

TEST_F(HttpTlsContext, LetsInTheNamesThatAreAllowedOnly) {
  settings_.client_auth = ClientAuth::require_and_verify;
  settings_.client_allowed_sans = {"prometheus.example", "2001:db8::7"};
  EXPECT_TRUE(lets_in(client_with(authority_.issue("a", "DNS:other.example,DNS:prometheus.example")).get()));
  EXPECT_TRUE(lets_in(client_with(authority_.issue("b", "IP:2001:db8::7")).get()));
  EXPECT_FALSE(lets_in(client_with(authority_.issue("c", "DNS:other.example")).get()));
  EXPECT_FALSE(lets_in(client_with(authority_.issue("prometheus.example")).get()))
      << "its common name is no name";
  EXPECT_FALSE(lets_in(client_with(strangers_.issue("d", "DNS:prometheus.example")).get()));
}

TEST_F(HttpTlsContext, SpeaksTheVersionsThatItIsToldAndNoOther) {
  const ClientContext old = client();
  ::SSL_CTX_set_max_proto_version(old.get(), TLS1_2_VERSION);
  const ClientContext modern = client();
  ::SSL_CTX_set_min_proto_version(modern.get(), TLS1_3_VERSION);
  EXPECT_TRUE(lets_in(old.get()));
  EXPECT_TRUE(lets_in(modern.get()));
  settings_.min_version = TlsVersion::tls13;
  EXPECT_FALSE(lets_in(old.get()));
  EXPECT_TRUE(lets_in(modern.get()));
  settings_.min_version = settings_.max_version = TlsVersion::tls12;
  EXPECT_TRUE(lets_in(old.get()));
  EXPECT_FALSE(lets_in(modern.get()));
}

TEST_F(HttpTlsContext, UsesTheCurvesThatItIsTold) {
  const ClientContext small = client();
  ::SSL_CTX_set1_groups_list(small.get(), "P-256");
  EXPECT_TRUE(lets_in(small.get()));
  settings_.curves = {"P-384"};
  EXPECT_FALSE(lets_in(small.get()));
  EXPECT_TRUE(lets_in(client().get()));
}

TEST_F(HttpTlsContext, UsesTheSuitesThatItIsTold) {
  settings_.max_version = TlsVersion::tls12;
  settings_.cipher_suites = {"ECDHE-ECDSA-AES256-GCM-SHA384"};
  const ClientContext other = client();
  ::SSL_CTX_set_cipher_list(other.get(), "ECDHE-ECDSA-AES128-GCM-SHA256");
  EXPECT_FALSE(lets_in(other.get()));
  EXPECT_TRUE(lets_in(client().get()));
}

}  // namespace
}  // namespace rdma_exporter::http
