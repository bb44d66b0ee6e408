// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/web/web_file.h"

// Any text is either refused with one line, or gives a web config that is whole: TLS with certificate and
// key, headers that are one line each, hashes that are bcrypt's, a rate limit that lets something through.
namespace {

using rdma_exporter::config::WebFile;

[[noreturn]] void fail(const char* what, std::string_view text) {
  std::fprintf(stderr, "%s:\n%.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

void check(const WebFile& file, std::string_view text) {
  if (file.tls && (!file.tls->certificate.given() || !file.tls->key.given())) fail("half of TLS", text);
  if (file.tls && file.tls->max_version < file.tls->min_version) fail("no version of TLS", text);
  for (const auto& [name, value] : file.headers) {
    if (value.empty() || value.find_first_of("\r\n") != std::string::npos) fail("bad header", text);
  }
  for (const auto& [name, hash] : file.users) {
    if (hash.size() != 60 || !hash.starts_with("$2")) fail("no bcrypt hash", text);
  }
  if (file.rate_limit && (file.rate_limit->burst == 0 || file.rate_limit->interval.count() <= 0))
    fail("a rate of nothing", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = rdma_exporter::config::parse_web_file(text, "/x/web.yml");
  if (file) {
    check(*file, text);
    return 0;
  }
  const std::string& message = file.error().context.text();
  if (!message.starts_with("/x/web.yml:") || message.find('\n') != std::string::npos)
    fail("bad message", message);
  return 0;
}
