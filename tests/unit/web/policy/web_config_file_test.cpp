// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/policy/web_config_file.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "http/tls/certificate.h"
#include "task/loop_tasks.h"
#include "tests/unit/support/temp_tree.h"

// The web config file and what it names: read, refused, read again.
namespace rdma_exporter::web {
namespace {

using std::chrono::milliseconds;

template <typename T, void (*Free)(T*)>
struct Freed {
  void operator()(T* object) const { Free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, ::EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509, ::X509_free>>;

Key make_key() { return Key(::EVP_EC_gen("P-256")); }

/// Signed with its own key; `names` as in openssl.cnf: "DNS:a,IP:192.0.2.1".
Certificate make_certificate(EVP_PKEY* key, const std::string& names, long valid_from, long valid_until) {
  Certificate made(::X509_new());
  ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), valid_from);
  ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), valid_until);
  ::X509_set_pubkey(made.get(), key);
  if (!names.empty()) {
    X509_EXTENSION* const extension =
        ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    ::X509_add_ext(made.get(), extension, -1);
    ::X509_EXTENSION_free(extension);
  }
  ::X509_sign(made.get(), key, ::EVP_sha256());
  return made;
}

template <typename Write>
std::string pem(Write write) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> out(::BIO_new(::BIO_s_mem()), ::BIO_free);
  write(out.get());
  char* text = nullptr;
  const long size = ::BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}
std::string pem_of(X509* certificate) {
  return pem([=](BIO* out) { ::PEM_write_bio_X509(out, certificate); });
}
std::string pem_of(EVP_PKEY* key) {
  return pem([=](BIO* out) { ::PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

TEST(WebCertificate, GivesItsAlternativeNamesAsText) {
  const Key key = make_key();
  const auto certificate = make_certificate(
      key.get(), "DNS:a.example,IP:192.0.2.1,IP:2001:db8::1,email:a@b.example,URI:spiffe://x/y", 0, 60);
  EXPECT_EQ(
      http::subject_alternative_names(certificate.get()),
      (std::vector<std::string>{"a.example", "192.0.2.1", "2001:db8::1", "a@b.example", "spiffe://x/y"}));
  EXPECT_TRUE(http::subject_alternative_names(make_certificate(key.get(), "", 0, 60).get()).empty());
}

TEST(WebCertificate, SaysWhenItIsNotValid) {
  const Key key = make_key();
  EXPECT_EQ(http::validity_problem(make_certificate(key.get(), "", -60, 60).get()), "");
  EXPECT_TRUE(
      http::validity_problem(make_certificate(key.get(), "", -60, -30).get()).starts_with("expired at "));
  EXPECT_TRUE(http::validity_problem(make_certificate(key.get(), "", 3600, 7200).get())
                  .starts_with("is valid from "));
}

class WebConfig : public testing::Test {
 protected:
  WebConfig() {
    // The thread sanitizer starts a thread of its own with the first of ours.
    std::thread([] {}).join();
    threads = count_threads();
    write_pair("server");
    write("web.yml", kTls);
  }
  // Nobody waits for the thread that reads files, which holds objects of OpenSSL until it has ended. A thread
  // of an earlier test may end meanwhile: fewer are fine.
  void TearDown() override {
    EXPECT_TRUE(soon([this] { return count_threads() <= threads; }));
  }
  static std::ptrdiff_t count_threads() {
    using Tasks = std::filesystem::directory_iterator;
    return std::distance(Tasks("/proc/self/task"), Tasks());
  }
  void write(const std::string& name, const std::string& text) { tree.write(name, text); }
  void write_pair(const std::string& name) {
    const Key key = make_key();
    write(name + ".pem", pem_of(make_certificate(key.get(), "", -60, 3600).get()));
    write(name + ".key", pem_of(key.get()));
    ::chmod((tree.root() + "/" + name + ".key").c_str(), 0600);
  }
  std::string problem(const std::string& text) {
    write("web.yml", text);
    const auto loaded = load_policy(path).policy;
    return loaded ? "accepted" : without_path(loaded.error().context.text());
  }
  std::string without_path(std::string text) {
    const std::string folder = tree.root() + "/";
    for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    return text;
  }
  /// Runs the event loop until `condition`, at most some seconds.
  template <typename Condition>
  bool soon(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io.restart();
      io.run_one_for(milliseconds(50));
    }
    return true;
  }
  std::uint64_t failures() const { return counters.web_config().value().failures; }

  static constexpr std::string_view kHash = "$2y$04$LJh2Jn1ZEwsnt6zUhqyzm.CkDBRiP3J9m0MxHJ.LPHPh2N3q5BZ0W";
  const std::string kTls = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n";
  const std::string kUsers = "basic_auth_users:\n  alice: " + std::string(kHash) + "\n";

  std::ptrdiff_t threads = 0;  ///< that were there before
  test::TempTree tree;
  std::string path = tree.root() + "/web.yml";
  asio::io_context io;
  http::HttpCounters counters;
  Gate gate{std::make_shared<PasswordCheck>([](const task::LoopTasks::Job&) { return false; },
                                            [](const std::string&, const std::string&) { return false; })};
};

TEST_F(WebConfig, AcceptsACertificateWithItsKey) { EXPECT_EQ(problem(kTls), "accepted"); }

TEST_F(WebConfig, SaysWhichFileIsMissingOrUnreadable) {
  EXPECT_EQ(problem("tls_server_config:\n  cert_file: none.pem\n  key_file: server.key\n"),
            "web.yml:2: tls_server_config.cert_file: none.pem: No such file or directory");
  EXPECT_EQ(problem("tls_server_config:\n  cert_file: server.pem\n  key_file: none.key\n"),
            "web.yml:3: tls_server_config.key_file: none.key: No such file or directory");
  EXPECT_EQ(problem(kTls + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: none.pem\n"),
            "web.yml:5: tls_server_config.client_ca_file: none.pem: No such file or directory");
  path = tree.root() + "/other.yml";
  EXPECT_EQ(without_path(load_policy(path).policy.error().context.text()),
            "other.yml: No such file or directory");
}

TEST_F(WebConfig, SaysWhatIsWrongWithAKey) {
  write_pair("other");
  EXPECT_EQ(problem("tls_server_config:\n  cert_file: server.pem\n  key_file: other.key\n"),
            "web.yml:3: tls_server_config.key_file: other.key: the key does not belong to the certificate");
  EXPECT_TRUE(
      problem("tls_server_config:\n  cert_file: server.key\n  key_file: server.key\n")
          .starts_with("web.yml:2: tls_server_config.cert_file: server.key: no certificate in PEM form"));
  EXPECT_TRUE(problem("tls_server_config:\n  cert_file: server.pem\n  key: nonsense\n")
                  .starts_with("web.yml:3: tls_server_config.key: no private key in PEM form"));
  const Key key = make_key();
  write("server.key", pem([&](BIO* out) {
          ::PEM_write_bio_PrivateKey(out, key.get(), ::EVP_aes_128_cbc(), nullptr, 0, nullptr,
                                     const_cast<char*>("passphrase"));
        }));
  EXPECT_EQ(problem(kTls),
            "web.yml:3: tls_server_config.key_file: server.key: the key has a passphrase, which nobody "
            "can enter here (use a key without one)");
}

TEST_F(WebConfig, RefusesAClientCaWithoutACertificate) {
  write("ca.pem", "nothing\n");
  EXPECT_EQ(problem(kTls + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n"),
            "web.yml:5: tls_server_config.client_ca_file: ca.pem: no certificate in PEM form");
}

TEST_F(WebConfig, TakesEveryVersionSuiteAndCurveThatItKnows) {
  EXPECT_EQ(problem(kTls + "  min_version: TLS10\n  max_version: TLS11\n"), "accepted");
  EXPECT_EQ(problem(kTls + "  curve_preferences: [X25519, CurveP256, CurveP384, CurveP521]\n"), "accepted");
  EXPECT_EQ(problem(kTls + "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, "
                           "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, "
                           "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA]\n"),
            "accepted");
}

TEST_F(WebConfig, NoticesAChangeWithoutBeingAsked) {
  const auto web = std::make_shared<WebConfigFile>(io, path, gate, counters);
  ASSERT_TRUE(web->load());
  EXPECT_TRUE(gate.policy().tls);
  EXPECT_TRUE(gate.policy().users.empty());
  web->start();
  write("web.yml", kTls + kUsers);
  EXPECT_TRUE(soon([this] { return !gate.policy().users.empty(); }));

  const auto before = gate.policy().tls;
  write_pair("server");
  EXPECT_TRUE(soon([&] { return gate.policy().tls != before; })) << "the certificate was replaced";
  EXPECT_EQ(failures(), 0U);
  web->stop();
}

TEST_F(WebConfig, KeepsWhatWasGoodWhenTheFileTurnsBad) {
  const auto web = std::make_shared<WebConfigFile>(io, path, gate, counters);
  ASSERT_TRUE(web->load());
  web->start();
  const auto before = gate.policy().tls;
  write("web.yml", kTls + "  min_versoin: TLS12\n");
  EXPECT_TRUE(soon([this] { return failures() == 1; }));
  EXPECT_EQ(gate.policy().tls, before);
  EXPECT_FALSE(counters.web_config()->last_good);
  write("web.yml", kTls + "  min_version: TLS12\n");
  EXPECT_TRUE(soon([this] { return counters.web_config()->last_good; }));
  EXPECT_EQ(failures(), 1U) << "a bad file is counted once, not once a second";
  web->stop();
}

TEST_F(WebConfig, WaitsUntilWhoWritesAFileIsDone) {
  const auto web = std::make_shared<WebConfigFile>(io, path, gate, counters);
  ASSERT_TRUE(web->load());
  web->start();
  const auto end = std::chrono::steady_clock::now() + milliseconds(3300);  // three looks
  for (unsigned size = 1; std::chrono::steady_clock::now() < end; ++size) {
    write("web.yml", kTls + std::string(size, 'x'));
    io.restart();
    io.run_for(milliseconds(100));
    ASSERT_EQ(failures(), 0U) << "a file that is being written";
  }
  write("web.yml", kTls + kUsers);
  EXPECT_TRUE(soon([this] { return !gate.policy().users.empty(); }));
  EXPECT_EQ(failures(), 0U);
  web->stop();
}

TEST_F(WebConfig, DoesNotSwitchProtectionOffWithoutARestart) {
  write("web.yml", kTls + kUsers);
  const auto web = std::make_shared<WebConfigFile>(io, path, gate, counters);
  ASSERT_TRUE(web->load());
  for (const std::string& less : {std::string(), kTls, kUsers}) {
    write("web.yml", less);
    std::string told;
    web->prepare([&](const auto& use) { told = use ? "good" : use.error().context.text(); });
    EXPECT_TRUE(soon([&] { return !told.empty(); }));
    EXPECT_NE(told.find("restart the exporter"), std::string::npos) << told;
    EXPECT_TRUE(gate.policy().tls && !gate.policy().users.empty());
  }
}

TEST_F(WebConfig, ReadsTheFileWhenItIsAskedToAndSaysHowThatWent) {
  const auto web = std::make_shared<WebConfigFile>(io, path, gate, counters);
  ASSERT_TRUE(web->load());
  std::function<void()> use;
  write("web.yml", kTls + kUsers);
  web->prepare([&](const auto& prepared) { use = prepared.value(); });
  EXPECT_TRUE(soon([&] { return use != nullptr; }));
  EXPECT_TRUE(gate.policy().users.empty()) << "until it is told to use it";
  use();
  EXPECT_FALSE(gate.policy().users.empty());
}

// As when the rest of a reload fails: the file is followed all the same.
TEST_F(WebConfig, FollowsAFileThatWasPreparedAndNotUsed) {
  const auto web = std::make_shared<WebConfigFile>(io, path, gate, counters);
  ASSERT_TRUE(web->load());
  bool prepared = false;
  write("web.yml", kTls + kUsers);
  web->prepare([&](const auto& use) { prepared = use.has_value(); });
  EXPECT_TRUE(soon([&] { return prepared; }));
  EXPECT_TRUE(gate.policy().users.empty());
  web->start();
  EXPECT_TRUE(soon([this] { return !gate.policy().users.empty(); }));
  web->stop();
}

}  // namespace
}  // namespace rdma_exporter::web
