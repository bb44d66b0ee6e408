// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/client/http_client.h"

#include <algorithm>
#include <filesystem>

#include "config/yaml/yaml.h"

namespace rdma_exporter::config {
namespace {

using Done = core::Result<void>;

// A header's name is a token, its value has no line break (RFC 9110, 5).
bool good_header(std::string_view name, std::string_view value) {
  const auto in_token = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), in_token) &&
         std::all_of(value.begin(), value.end(), printable);
}

class Reader {
 public:
  explicit Reader(const std::string& file_name)
      : file_name_(file_name), folder_(std::filesystem::path(file_name).parent_path()) {}

  core::Result<HttpClient> read(const YamlNode& root) {
    const auto done = each_key(
        root, file_name_, "",
        {section("basic_auth", {text("username", client_.username), text("password", client_.password),
                                path("password_file", client_.password_file)}),
         section("authorization",
                 {text("type", client_.credentials_type), text("credentials", client_.credentials),
                  path("credentials_file", client_.credentials_file)}),
         section("tls_config",
                 {path("ca_file", client_.authority_file), path("cert_file", client_.certificate_file),
                  path("key_file", client_.key_file), text("server_name", client_.server_name)}),
         {"http_headers", [this](const YamlNode& node) { return headers(node); }}});
    if (!done) return tl::unexpected(done.error());
    return whole(root).map([this] { return std::move(client_); });
  }

 private:
  YamlKey section(const std::string& name, std::vector<YamlKey> keys) {
    return {name, [this, name, keys = std::move(keys)](const YamlNode& node) {
              return each_key(node, file_name_, name + ".", keys);
            }};
  }
  YamlKey text(const std::string& name, std::string& into) {
    return {name, [this, name, &into](const YamlNode& node) -> Done {
              auto value = yaml_text(node, file_name_, name);
              if (!value) return tl::unexpected(std::move(value.error()));
              if (value->empty() || !good_header("x", *value))
                return yaml_error(file_name_, node.key_line,
                                  name + ": is empty, or has characters that are not allowed in a header");
              into = std::move(*value);
              return {};
            }};
  }
  YamlKey path(const std::string& name, std::string& into) {
    return {name, [this, name, &into](const YamlNode& node) -> Done {
              const auto value = yaml_text(node, file_name_, name);
              if (!value) return tl::unexpected(value.error());
              if (value->empty()) return yaml_error(file_name_, node.key_line, name + ": is empty");
              into = (folder_ / *value).string();
              return {};
            }};
  }
  Done headers(const YamlNode& node) {
    for (const YamlNode& header : node.children) {
      std::vector<std::string> values;
      const auto done = each_key(header, file_name_, "http_headers." + header.key + ".",
                                 {{"values", [&](const YamlNode& list) -> Done {
                                     auto texts = yaml_texts(list, file_name_, "values");
                                     if (!texts) return tl::unexpected(std::move(texts.error()));
                                     values = std::move(*texts);
                                     return {};
                                   }}});
      if (!done) return done;
      for (std::string& value : values) {
        if (!good_header(header.key, value))
          return yaml_error(file_name_, header.key_line,
                            "http_headers: " + header.key + " is not a valid header");
        client_.headers.emplace_back(header.key, std::move(value));
      }
    }
    return {};
  }
  Done whole(const YamlNode& root) const {
    const bool token = !client_.credentials.empty() || !client_.credentials_file.empty();
    if (!client_.username.empty() && token)
      return yaml_error(file_name_, root.line, "basic_auth and authorization are both given (use one)");
    if (!client_.password.empty() && !client_.password_file.empty())
      return yaml_error(file_name_, root.line,
                        "basic_auth: password and password_file are both given (use one)");
    if (!client_.credentials.empty() && !client_.credentials_file.empty())
      return yaml_error(file_name_, root.line,
                        "authorization: credentials and credentials_file are both given (use one)");
    if (client_.certificate_file.empty() != client_.key_file.empty())
      return yaml_error(file_name_, root.line, "tls_config: cert_file and key_file must be used together");
    return {};
  }

  const std::string& file_name_;
  const std::filesystem::path folder_;
  HttpClient client_;
};

}  // namespace

core::Result<HttpClient> parse_http_client(std::string_view text, const std::string& file_name) {
  const auto root = parse_yaml(text, file_name);
  if (!root) return tl::unexpected(root.error());
  return Reader(file_name).read(*root);
}

}  // namespace rdma_exporter::config
