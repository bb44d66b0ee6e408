// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/text/regular_file.h"
#include "probe/channel/secret_file.h"

namespace rdma_exporter::probe {
namespace {

using Context = asio::ssl::context;
using ErrorCode = boost::system::error_code;
using Secrets = std::vector<Secret>;

constexpr std::size_t kMaxPemBytes = 1 << 20;  // bytes

// TLS_AES_128_GCM_SHA256: its hash is the default hash of external keys (RFC 8446, 4.2.11).
constexpr unsigned char kCipher[2] = {0x13, 0x01};

void free_secrets(void* /*parent*/, void* pointer, CRYPTO_EX_DATA* /*data*/, int /*index*/, long /*argument*/,
                  void* /*more*/) {
  delete static_cast<Secrets*>(pointer);
}

// Index at which a context stores its keys, which live as long as it does.
int secrets_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_secrets);
  return index;
}

const Secrets& secrets_of(SSL* ssl) {
  return *static_cast<Secrets*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), secrets_index()));
}

// OpenSSL takes a TLS 1.3 external key in the form of a session.
SSL_SESSION* session_of(SSL* ssl, const Secret& secret) {
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kCipher);
  SSL_SESSION* session = SSL_SESSION_new();
  if (session == nullptr || cipher == nullptr) return session;
  if (SSL_SESSION_set1_master_key(session, secret.key.data(), secret.key.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

int use_session(SSL* ssl, const EVP_MD* /*digest*/, const unsigned char** identity, std::size_t* size,
                SSL_SESSION** session) {
  const Secret& own = secrets_of(ssl).front();
  *session = session_of(ssl, own);
  *identity = reinterpret_cast<const unsigned char*>(own.identity.data());
  *size = own.identity.size();
  return *session != nullptr ? 1 : 0;
}

int find_session(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
  *session = nullptr;
  const std::string_view wanted(reinterpret_cast<const char*>(identity), size);
  for (const Secret& secret : secrets_of(ssl))
    if (secret.identity == wanted) *session = session_of(ssl, secret);
  return 1;  // without a session the handshake continues without a key, and fails because there is no
             // certificate
}

core::Result<void> use_secrets(Context& context, const std::string& path, TlsRole role) {
  auto secrets = read_secrets(path);
  if (!secrets) return tl::unexpected(secrets.error());
  SSL_CTX* native = context.native_handle();
  SSL_CTX_set_ex_data(native, secrets_index(), new Secrets(std::move(*secrets)));
  SSL_CTX_set_ciphersuites(native, "TLS_AES_128_GCM_SHA256");
  if (role == TlsRole::client) {
    SSL_CTX_set_psk_use_session_callback(native, use_session);
    return {};
  }
  SSL_CTX_set_psk_find_session_callback(native, find_session);
  // A server that verifies its peers accepts a session, in the form of which keys are passed, only with a
  // session ID context. A client must have none.
  constexpr std::string_view kContext = "rdma_exporter probe";
  SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>(kContext.data()),
                                 kContext.size());
  return {};
}

core::Result<void> use_certificates(Context& context, const Credentials& credentials) {
  if (credentials.certificate_file.empty() || credentials.key_file.empty() ||
      credentials.authority_file.empty())
    return core::config_error("certificate, key and CA have to be configured together");
  ErrorCode error;
  const auto use = [&error](const std::string& path, auto take) -> core::Result<void> {
    auto pem =
        core::RegularFile::open(path).and_then([](const auto& file) { return file.read(kMaxPemBytes); });
    if (!pem) return core::unreadable(path, pem.error());
    std::string& text = *pem;
    take(asio::buffer(text));
    ::OPENSSL_cleanse(text.data(), text.size());
    return error ? core::config_error(path + ": " + error.message()) : core::Result<void>();
  };
  return use(credentials.certificate_file, [&](auto pem) { context.use_certificate_chain(pem, error); })
      .and_then([&] {
        return use(credentials.key_file,
                   [&](auto pem) { context.use_private_key(pem, Context::pem, error); });
      })
      .and_then([&] {
        return use(credentials.authority_file,
                   [&](auto pem) { context.add_certificate_authority(pem, error); });
      });
}

}  // namespace

std::string file_stamp(const Credentials& credentials) {
  std::string stamp;
  for (const std::string* path : {&credentials.certificate_file, &credentials.key_file,
                                  &credentials.authority_file, &credentials.secret_file}) {
    struct stat status {};
    if (path->empty() || ::stat(path->c_str(), &status) != 0) continue;
    stamp += std::to_string(status.st_ino) + "," + std::to_string(status.st_size) + "," +
             std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + ";";
  }
  return stamp;
}

core::Result<void> renew_secrets(Context& context, const std::string& secret_file) {
  auto secrets = read_secrets(secret_file);
  if (!secrets) return tl::unexpected(secrets.error());
  *static_cast<Secrets*>(SSL_CTX_get_ex_data(context.native_handle(), secrets_index())) = std::move(*secrets);
  return {};
}

core::Result<std::shared_ptr<Context>> make_tls(const Credentials& credentials, TlsRole role) {
  if (credentials.none()) return nullptr;
  const bool secret = !credentials.secret_file.empty();
  if (secret && !(credentials.certificate_file + credentials.key_file + credentials.authority_file).empty())
    return core::config_error("use certificates or a secret, not both");
  auto context =
      std::make_shared<Context>(role == TlsRole::client ? Context::tls_client : Context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  // Tickets would be a second way to authenticate, which outlives a change of keys.
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const auto ready =
      secret ? use_secrets(*context, credentials.secret_file, role) : use_certificates(*context, credentials);
  if (!ready) return tl::unexpected(ready.error());
  return context;
}

}  // namespace rdma_exporter::probe
