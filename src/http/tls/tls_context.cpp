// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "asio/ssl.h"
#include "http/tls/certificate.h"
#include "log/log.h"

namespace rdma_exporter::http {
namespace {

using config::ClientAuth;
using config::TlsServer;
using config::TlsVersion;
using ErrorCode = boost::system::error_code;
using Done = core::Result<void>;

constexpr std::array<std::string_view, 6> kModernSuites{
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",   "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",   "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"};
/// TLS 1.0 and 1.1 know no others.
constexpr std::array<std::string_view, 4> kOldSuites{"ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA",
                                                     "ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES256-SHA"};

bool is_old(const TlsServer& settings) { return settings.min_version < TlsVersion::tls12; }

int protocol_of(TlsVersion version) {
  constexpr int kProtocols[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION};
  return kProtocols[static_cast<unsigned>(version)];
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ":") + word;
  return text;
}

/// What OpenSSL complains about, and its queue of errors emptied.
std::string openssl_reason() {
  const char* const text = ::ERR_reason_error_string(::ERR_peek_last_error());
  std::string reason = text == nullptr ? "unknown error" : text;
  ::ERR_clear_error();
  return reason;
}

tl::unexpected<core::Error> pem_error(const config::PemSource& source, const std::string& problem) {
  return core::config_error(source.where + ": " + (source.path.empty() ? "" : source.path + ": ") + problem);
}

/// HTTP/1.1 is what is spoken here, also to clients that would like HTTP/2 better.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned in_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found = ::SSL_select_next_proto(&chosen, out_size, kHttp11, sizeof kHttp11 - 1, in, in_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

Done use_versions(SSL_CTX* ssl, const TlsServer& settings) {
  // TLS 1.0 and 1.1 sign with SHA-1, which OpenSSL 3 allows at no security level but 0.
  if (is_old(settings)) ::SSL_CTX_set_security_level(ssl, 0);
  const std::string suites = join(cipher_suites_of(settings));
  const std::string curves = join(settings.curves);
  const bool done = ::SSL_CTX_set_min_proto_version(ssl, protocol_of(settings.min_version)) == 1 &&
                    ::SSL_CTX_set_max_proto_version(ssl, protocol_of(settings.max_version)) == 1 &&
                    ::SSL_CTX_set_cipher_list(ssl, suites.c_str()) == 1 &&
                    (curves.empty() || ::SSL_CTX_set1_groups_list(ssl, curves.c_str()) == 1);
  if (done) return {};
  return core::config_error("tls_server_config: OpenSSL rejects its versions, suites or curves: " +
                            openssl_reason());
}

void set_options(SSL_CTX* ssl, const TlsServer& settings) {
  std::uint64_t options = SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
  if (settings.prefer_server_cipher_suites) options |= SSL_OP_CIPHER_SERVER_PREFERENCE;
  ::SSL_CTX_set_options(ssl, options);
  ::SSL_CTX_set_num_tickets(ssl, 0);  // TLS 1.3 has another kind of them
  ::SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);  // an idle connection keeps 34 kB less
  ::SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, nullptr);
}

Done use_certificate(asio::ssl::context& context, const TlsServer& settings, const PemTexts& pem) {
  ErrorCode error;
  context.use_certificate_chain(asio::buffer(pem.certificate), error);
  if (error) return pem_error(settings.certificate, "no certificate in PEM form: " + error.message());
  // Without this OpenSSL would ask for a passphrase on the terminal.
  context.set_password_callback(
      [](std::size_t, asio::ssl::context::password_purpose) { return std::string(); });
  if (pem.key.find("ENCRYPTED") != std::string::npos)
    return pem_error(settings.key,
                     "the key has a passphrase, which nobody can enter here (use a key without one)");
  context.use_private_key(asio::buffer(pem.key), asio::ssl::context::pem, error);
  if (error.value() != 0 &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == X509_R_KEY_VALUES_MISMATCH)
    return pem_error(settings.key, "the key does not belong to the certificate");
  if (error) return pem_error(settings.key, "no private key in PEM form: " + error.message());
  const std::string problem = validity_problem(::SSL_CTX_get0_certificate(context.native_handle()));
  if (!problem.empty())
    log::warn("clients will reject the TLS certificate",
              {{"file", settings.certificate.path}, {"why", problem}});
  return {};
}

Done use_client_ca(asio::ssl::context& context, const TlsServer& settings, const PemTexts& pem) {
  const bool verifies = settings.client_auth == ClientAuth::verify_if_given ||
                        settings.client_auth == ClientAuth::require_and_verify;
  ErrorCode error;
  if (settings.client_ca.given()) {
    context.add_certificate_authority(asio::buffer(pem.client_ca), error);
    const X509_STORE* const store = ::SSL_CTX_get_cert_store(context.native_handle());
    if (error || sk_X509_OBJECT_num(::X509_STORE_get0_objects(store)) == 0)
      return pem_error(settings.client_ca, "no certificate in PEM form");
  } else if (verifies) {
    trust_system_authorities(context, error);
    log::warn("no client_ca_file: certificates of any CA that this host trusts are accepted");
  }
  return {};
}

bool has_allowed_name(const X509* certificate, const std::vector<std::string>& allowed) {
  const std::vector<std::string> names = subject_alternative_names(certificate);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(allowed.begin(), allowed.end(), name) != allowed.end();
  });
}

void ask_clients(asio::ssl::context& context, const TlsServer& settings) {
  if (settings.client_auth == ClientAuth::none) return context.set_verify_mode(asio::ssl::verify_none);
  const bool required = settings.client_auth == ClientAuth::require_any ||
                        settings.client_auth == ClientAuth::require_and_verify;
  const bool any =
      settings.client_auth == ClientAuth::request || settings.client_auth == ClientAuth::require_any;
  context.set_verify_mode(asio::ssl::verify_peer | (required ? asio::ssl::verify_fail_if_no_peer_cert : 0));
  context.set_verify_callback([any, allowed = settings.client_allowed_sans](
                                  bool good, asio::ssl::verify_context& chain) {
    X509_STORE_CTX* const store = chain.native_handle();
    if (!good && !any) return false;
    const bool is_client = ::X509_STORE_CTX_get_error_depth(store) == 0;
    if (!is_client || allowed.empty() || has_allowed_name(::X509_STORE_CTX_get_current_cert(store), allowed))
      return true;
    ::X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return false;
  });
}

}  // namespace

std::vector<std::string> cipher_suites_of(const TlsServer& settings) {
  if (!settings.cipher_suites.empty()) return settings.cipher_suites;
  std::vector<std::string> suites(kModernSuites.begin(), kModernSuites.end());
  if (is_old(settings)) suites.insert(suites.end(), kOldSuites.begin(), kOldSuites.end());
  return suites;
}

core::Result<std::shared_ptr<asio::ssl::context>> make_tls_context(const TlsServer& settings,
                                                                   const PemTexts& pem) {
  ::ERR_clear_error();
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const ssl = context->native_handle();
  set_options(ssl, settings);
  Done done = use_versions(ssl, settings);
  if (done) done = use_certificate(*context, settings, pem);
  if (done) done = use_client_ca(*context, settings, pem);
  if (!done) return tl::unexpected(std::move(done.error()));
  ask_clients(*context, settings);
  return context;
}

}  // namespace rdma_exporter::http
