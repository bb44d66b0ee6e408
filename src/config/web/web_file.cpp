// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/web/web_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

#include "config/flags/option_table.h"
#include "config/flags/value_type.h"
#include "config/message.h"
#include "config/web/web_names.h"
#include "config/yaml/yaml.h"

namespace rdma_exporter::config {
namespace {

using Done = core::Result<void>;

constexpr std::size_t kHashLength = 60;  // of bcrypt: "$2y$10$", 22 of salt, 31 of hash
constexpr std::size_t kSaltBegins = 7;
constexpr unsigned kLowestCost = 4;          // crypt(5)
constexpr unsigned kHighestBcryptCost = 16;  // 2^16 rounds take about five seconds

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '.' && c <= '9');  // './0123456789'
}

// Checks that `hash` is "$2y$COST$" (or 2a, 2b) and 53 characters, the output of `htpasswd -B`. The error
// says what is wrong, without the hash; it follows the key in a message.
Done check_bcrypt_hash(std::string_view hash) {
  const bool known = hash.starts_with("$2y$") || hash.starts_with("$2b$") || hash.starts_with("$2a$");
  if (!known || hash.size() != kHashLength || hash[kSaltBegins - 1] != '$' ||
      !std::all_of(hash.begin() + kSaltBegins, hash.end(), is_base64)) {
    return core::config_error("is not a bcrypt hash (make one with htpasswd -nBC 10 \"\" | tr -d ':\\n')");
  }
  unsigned cost = 0;
  const auto parsed = std::from_chars(&hash[4], &hash[6], cost);
  if (parsed.ec != std::errc() || parsed.ptr != &hash[6] || cost < kLowestCost || cost > kHighestBcryptCost)
    return core::config_error("has a cost that is not 04 to " + std::to_string(kHighestBcryptCost));
  return {};
}

template <typename Words>
std::string known(const Words& words) {
  std::vector<std::string> names;
  for (const auto& word : words) names.emplace_back(word.name);
  return alternatives(names);
}

/// Parses one file into a WebFile, with one function per key.
class Reader {
 public:
  explicit Reader(const std::string& file_name)
      : file_name_(file_name), folder_(std::filesystem::path(file_name).parent_path()) {}

  core::Result<WebFile> read(const YamlNode& root) {
    auto done = each_key(root, file_name_, "",
                         {{"tls_server_config", [this](const YamlNode& node) { return tls(node); }},
                          {"http_server_config", [this](const YamlNode& node) { return http(node); }},
                          {"basic_auth_users", [this](const YamlNode& node) { return users(node); }},
                          {"rate_limit", [this](const YamlNode& node) { return rate_limit(node); }}});
    if (!done) return tl::unexpected(std::move(done.error()));
    return std::move(file_);
  }

 private:
  tl::unexpected<core::Error> error(const YamlNode& node, const std::string& problem) const {
    return yaml_error(file_name_, line_of(node), problem);
  }

  // --- tls_server_config

  Done tls(const YamlNode& node) {
    if (const auto filled = has_children(node, "tls_server_config", "TLS"); !filled) return filled;
    TlsServer& tls = file_.tls.emplace();
    const auto done =
        each_key(node, file_name_, kTls,
                 {path_key("cert_file", tls.certificate),
                  text_key("cert", tls.certificate),
                  path_key("key_file", tls.key),
                  text_key("key", tls.key),
                  path_key("client_ca_file", tls.client_ca),
                  text_key("client_ca", tls.client_ca),
                  word_key("client_auth_type", kClientAuths, tls.client_auth),
                  {"client_allowed_sans", [&](const YamlNode& value) { return sans(value, tls); }},
                  words_key("cipher_suites", kCipherSuites, tls.cipher_suites),
                  bool_key(kTls, "prefer_server_cipher_suites", tls.prefer_server_cipher_suites),
                  words_key("curve_preferences", kCurves, tls.curves),
                  word_key("min_version", kTlsVersions, tls.min_version),
                  word_key("max_version", kTlsVersions, tls.max_version)});
    return done ? whole(node, tls) : done;
  }

  /// Rejects an empty section: the endpoint would be open, although the author wants to protect it.
  Done has_children(const YamlNode& node, const std::string& key, std::string_view what) const {
    const bool scalar = node.kind == YamlNode::Kind::scalar;
    if (scalar || !node.children.empty()) return {};
    return error(node, key + ": is empty (remove the key to serve without " + std::string(what) + ")");
  }

  /// Checks combinations of keys.
  Done whole(const YamlNode& node, TlsServer& tls) {
    if (!tls.certificate.given()) return error(node, "tls_server_config: cert_file is missing (or cert)");
    if (!tls.key.given()) return error(node, "tls_server_config: key_file is missing (or key)");
    if (tls.max_version < tls.min_version)
      return error(node, "tls_server_config: max_version is below min_version");
    if (tls.client_ca.given() && tls.client_auth == ClientAuth::none)
      return error(node, "tls_server_config: a client CA needs a client_auth_type other than NoClientCert");
    const bool required =
        tls.client_auth == ClientAuth::require_any || tls.client_auth == ClientAuth::require_and_verify;
    if (!tls.client_allowed_sans.empty() && !required) {
      return error(
          node,
          "tls_server_config: client_allowed_sans needs the client_auth_type RequireAndVerifyClientCert or "
          "RequireAnyClientCert: otherwise clients could connect without a certificate");
    }
    return choose_suites(node, tls);
  }

  /// OpenSSL's list has no names for the suites of TLS 1.3. A list of nothing else leaves none for TLS 1.2.
  Done choose_suites(const YamlNode& node, TlsServer& tls) {
    const bool listed = !tls.cipher_suites.empty();
    std::erase(tls.cipher_suites, "");
    if (!listed || !tls.cipher_suites.empty() || tls.min_version == TlsVersion::tls13) return {};
    if (tls.max_version < TlsVersion::tls13)
      return error(node,
                   "tls_server_config: cipher_suites lists only suites of TLS 1.3, but max_version is lower");
    tls.min_version = TlsVersion::tls13;
    return {};
  }

  YamlKey path_key(const std::string& name, PemSource& into) {
    return {name, [this, name, &into](const YamlNode& node) -> Done {
              auto text = filled(node, kTls + name);
              if (!text) return tl::unexpected(std::move(text.error()));
              if (into.given()) return both_ways(node, name);
              into.path = (folder_ / *text).string();
              into.where = where(node, name);
              return {};
            }};
  }

  YamlKey text_key(const std::string& name, PemSource& into) {
    return {name, [this, name, &into](const YamlNode& node) -> Done {
              auto text = filled(node, kTls + name);
              if (!text) return tl::unexpected(std::move(text.error()));
              if (into.given()) return both_ways(node, name);
              into.text = std::move(*text);
              into.where = where(node, name);
              return {};
            }};
  }

  tl::unexpected<core::Error> both_ways(const YamlNode& node, const std::string& name) const {
    return error(node, kTls + name + ": is given both here and as a file (use one)");
  }

  std::string where(const YamlNode& node, const std::string& name) const {
    return file_name_ + ":" + std::to_string(node.key_line) + ": " + kTls + name;
  }

  core::Result<std::string> filled(const YamlNode& node, const std::string& path) const {
    auto text = yaml_text(node, file_name_, path);
    if (text && text->empty()) return error(node, path + ": is empty");
    return text;
  }

  template <typename Words, typename T>
  YamlKey word_key(std::string name, const Words& words, T& into) {
    return {name, [this, name, &words, &into](const YamlNode& node) -> Done {
              auto text = yaml_text(node, file_name_, kTls + name);
              if (!text) return tl::unexpected(std::move(text.error()));
              return look_up(node, name, words, *text).map([&](const auto& value) { into = value; });
            }};
  }

  template <typename Words>
  YamlKey words_key(std::string name, const Words& words, std::vector<std::string>& into) {
    return {name, [this, name, &words, &into](const YamlNode& node) -> Done {
              const auto texts = yaml_texts(node, file_name_, kTls + name);
              if (!texts) return tl::unexpected(texts.error());
              for (std::size_t i = 0; i < texts->size(); ++i) {
                const auto value = look_up(node.children[i], name, words, (*texts)[i]);
                if (!value) return tl::unexpected(value.error());
                into.emplace_back(*value);
              }
              return {};
            }};
  }

  template <typename Words>
  auto look_up(const YamlNode& node, const std::string& name, const Words& words,
               const std::string& text) const -> core::Result<std::remove_cvref_t<decltype(words[0].value)>> {
    const auto* const word =
        std::find_if(std::begin(words), std::end(words), [&](const auto& w) { return w.name == text; });
    if (word != std::end(words)) return word->value;
    return error(node,
                 kTls + name + ": " + in_quotes(text) + " is not a valid value (use " + known(words) + ")");
  }

  Done sans(const YamlNode& node, TlsServer& tls) {
    return yaml_texts(node, file_name_, kTls + "client_allowed_sans").map([&](auto texts) {
      tls.client_allowed_sans = std::move(texts);
    });
  }

  // --- http_server_config

  Done http(const YamlNode& node) {
    return each_key(node, file_name_, kHttp,
                    {bool_key(kHttp, "http2", file_.http2_asked_for),
                     {"headers", [this](const YamlNode& value) { return headers(value); }}});
  }

  Done headers(const YamlNode& node) {
    std::vector<YamlKey> keys;
    for (const HeaderRule& rule : kHeaders) {
      keys.push_back(
          {std::string(rule.name), [this, &rule](const YamlNode& value) { return header(value, rule); }});
    }
    return each_key(node, file_name_, kHttp + "headers.", keys);
  }

  /// A header without a value is not sent.
  Done header(const YamlNode& node, const HeaderRule& rule) {
    const std::string path = kHttp + "headers." + std::string(rule.name);
    const bool any = rule.values[0].empty();
    if (any && node.kind == YamlNode::Kind::empty) return {};
    auto text = yaml_text(node, file_name_, path);
    if (!text) return tl::unexpected(std::move(text.error()));
    if (any && text->empty()) return {};
    if (!any &&
        (text->empty() || std::find(rule.values.begin(), rule.values.end(), *text) == rule.values.end())) {
      std::vector<std::string> words(rule.values.begin(), rule.values.end());
      std::erase(words, "");
      return error(node,
                   path + ": " + in_quotes(*text) + " is not allowed (use " + alternatives(words) + ")");
    }
    // A line end would start another header.
    if (std::any_of(text->begin(), text->end(), [](char c) { return c < 0x20 || c > 0x7e; }))
      return error(node, path + ": may contain only printable ASCII characters");
    file_.headers.emplace_back(rule.name, std::move(*text));
    return {};
  }

  YamlKey bool_key(const std::string& section, const std::string& name, bool& into) {
    return {name, [this, path = section + name, &into](const YamlNode& node) -> Done {
              const auto text = yaml_text(node, file_name_, path);
              if (!text) return tl::unexpected(text.error());
              // Other readers of this format are YAML 1.1 readers, for which these words are booleans, too.
              const bool yes = *text == "true" || *text == "yes" || *text == "on";
              const bool no = *text == "false" || *text == "no" || *text == "off";
              if (node.is_quoted || (!yes && !no))
                return error(node, path + ": " + in_quotes(*text) + " is not a boolean (use true or false)");
              into = yes;
              return {};
            }};
  }

  // --- basic_auth_users, rate_limit

  Done users(const YamlNode& node) {
    if (const auto filled = has_children(node, "basic_auth_users", "passwords"); !filled) return filled;
    if (node.kind != YamlNode::Kind::section) {
      return error(node, "basic_auth_users: " + kind_of(node) +
                             " (use a section with a line NAME: BCRYPT_HASH for each user)");
    }
    return each_entry(node, file_name_, "basic_auth_users.", [this](const YamlNode& user) -> Done {
      const std::string path = "basic_auth_users." + in_quotes(user.key);
      if (user.key.find(':') != std::string::npos)
        return error(user, path + ": a user name must not contain a colon");
      const auto hash = yaml_text(user, file_name_, path);
      if (!hash) return tl::unexpected(hash.error());
      if (const auto checked = check_bcrypt_hash(*hash); !checked)
        return error(user, path + ": " + checked.error().context.text());
      file_.users.emplace(user.key, *hash);
      return {};
    });
  }

  Done rate_limit(const YamlNode& node) {
    RateLimit limit;
    auto done = each_key(node, file_name_, kRate,
                         {{"interval", [&](const YamlNode& value) { return interval(value, limit); }},
                          {"burst", [&](const YamlNode& value) { return burst(value, limit); }}});
    if (!done || limit.interval.count() == 0) return done;
    if (limit.burst == 0)
      return error(node, kRate + "burst: must be at least 1, or every request is refused");
    file_.rate_limit = limit;
    return {};
  }

  Done interval(const YamlNode& node, RateLimit& limit) {
    const auto text = yaml_text(node, file_name_, kRate + "interval");
    if (!text) return tl::unexpected(text.error());
    if (*text == "0") return {};
    const auto value = checked(duration(std::chrono::milliseconds(0), std::chrono::hours(1)), *text);
    if (!value) return error(node, kRate + "interval: " + value.error().context.text());
    limit.interval = *value;
    return {};
  }

  Done burst(const YamlNode& node, RateLimit& limit) {
    const auto text = yaml_text(node, file_name_, kRate + "burst");
    if (!text) return tl::unexpected(text.error());
    const auto value = checked(number(0, 1'000'000), *text);
    if (!value) return error(node, kRate + "burst: " + value.error().context.text());
    limit.burst = *value;
    return {};
  }

  static inline const std::string kTls = "tls_server_config.";
  static inline const std::string kHttp = "http_server_config.";
  static inline const std::string kRate = "rate_limit.";

  const std::string& file_name_;
  const std::filesystem::path folder_;
  WebFile file_;
};

}  // namespace

core::Result<WebFile> parse_web_file(std::string_view text, const std::string& file_name) {
  const auto root = parse_yaml(text, file_name);
  if (!root) return tl::unexpected(root.error());
  return Reader(file_name).read(*root);
}

}  // namespace rdma_exporter::config
