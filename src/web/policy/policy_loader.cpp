// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/policy/policy_loader.h"

#include <openssl/crypto.h>

#include <utility>

#include "config/yaml/file.h"
#include "http/tls/tls_context.h"
#include "log/log.h"

namespace rdma_exporter::web {
namespace {

using config::PemSource;
using Done = core::Result<void>;

bool same(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

/// What the settings ask of clients.
TlsRules rules_of(const config::TlsServer& settings) {
  using config::ClientAuth;
  const ClientAuth auth = settings.client_auth;
  const config::PemSource& ca = settings.client_ca;
  return {
      .requires_certificate = auth == ClientAuth::require_any || auth == ClientAuth::require_and_verify,
      .verifies_certificate = auth == ClientAuth::verify_if_given || auth == ClientAuth::require_and_verify,
      .client_ca = ca.text.empty() ? ca.path : "client_ca",
      .allowed_sans = settings.client_allowed_sans,
      .min_version = settings.min_version,
      .cipher_suites = http::cipher_suites_of(settings),
      .curves = settings.curves};
}

/// Collects what one attempt reads.
class Loader {
 public:
  explicit Loader(const std::string& path) : path_(path) {}

  core::Result<std::shared_ptr<const Policy>> load() {
    watch(path_);
    const auto text = config::read_file(path_);
    if (!text) return tl::unexpected(text.error());
    auto file = config::parse_web_file(*text, path_);
    if (!file) return tl::unexpected(std::move(file.error()));
    auto policy = std::make_shared<Policy>();
    policy->users = std::move(file->users);
    policy->rate_limit = file->rate_limit;
    for (const auto& [name, value] : file->headers) policy->headers += name + ": " + value + "\r\n";
    if (file->http2_asked_for) log::info("the web config enables http2, but only HTTP/1.1 is served");
    if (file->tls) {
      auto tls = make_tls(*file->tls);
      if (!tls) return tl::unexpected(std::move(tls.error()));
      policy->tls = std::move(*tls);
      policy->tls_rules = rules_of(*file->tls);
    }
    return policy;
  }

  std::vector<std::string> files;
  std::vector<FileStamp> stamps;

 private:
  core::Result<std::shared_ptr<boost::asio::ssl::context>> make_tls(const config::TlsServer& settings) {
    http::PemTexts pem;
    Done done = read(settings.certificate, pem.certificate);
    if (done) done = read(settings.key, pem.key);
    if (done) done = read(settings.client_ca, pem.client_ca);
    if (!done) return tl::unexpected(std::move(done.error()));
    warn_if_open_to_others(settings.key.path.empty() ? path_ : settings.key.path);
    auto context = http::make_tls_context(settings, pem);
    ::OPENSSL_cleanse(pem.key.data(), pem.key.size());
    return context;
  }

  Done read(const PemSource& source, std::string& into) {
    into = source.text;
    if (source.path.empty()) return {};
    watch(source.path);
    auto text = config::read_file(source.path);
    if (!text) return config::error_at(source.where, std::move(text.error()));
    into = std::move(*text);
    return {};
  }

  void watch(const std::string& path) {
    files.push_back(path);
    stamps.push_back(stamp_of(path));
  }

  static void warn_if_open_to_others(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0)
      log::warn("the TLS key is readable by every user of this host", {{"file", path}, {"use", "chmod o-r"}});
  }

  const std::string& path_;
};

}  // namespace

bool FileStamp::operator==(const FileStamp& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         same(modified, other.modified) && same(changed, other.changed);
}

FileStamp stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_size, info.st_mtim, info.st_ctim};
}

LoadedPolicy load_policy(const std::string& path) {
  Loader loader(path);
  auto policy = loader.load();
  return {std::move(policy), std::move(loader.files), std::move(loader.stamps)};
}

}  // namespace rdma_exporter::web
