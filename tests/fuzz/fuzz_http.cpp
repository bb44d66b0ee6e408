// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "task/loop_tasks.h"
#include "tests/unit/http/session_fixture.h"
#include "web/auth/gate.h"

// Any bytes of a client, in pieces of any size, are answered with whole responses of this server and nothing
// else, with and without a password to be given, and whatever the client does, its session is gone when it
// is.
namespace {

using namespace rdma_exporter;
using http::SessionFixture;

[[noreturn]] void fail(const char* what, std::string_view bytes) {
  std::fprintf(stderr, "%s:\n%.*s\n", what, static_cast<int>(bytes.size()), bytes.data());
  std::abort();
}

/// Takes one response off the front of `bytes`. A response to HEAD ends with its head, so that a body is only
/// what does not begin another response.
void take_response(std::string_view& bytes) {
  if (!bytes.starts_with("HTTP/1.1 ")) fail("no response begins here", bytes);
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) fail("the head has no end", bytes);
  const std::string head(bytes.substr(0, end + 2));
  bytes.remove_prefix(end + 4);
  const std::size_t at = head.find("\r\nContent-Length: ");
  if (at == std::string::npos) fail("no length", head);
  const std::size_t length = std::strtoul(head.c_str() + at + 18, nullptr, 10);
  if (bytes.empty() || bytes.starts_with("HTTP/1.1 ")) return;
  if (bytes.size() < length) fail("the body is cut", bytes);
  bytes.remove_prefix(length);
}

/// A gate that one password opens, checked at once, and configured headers.
std::shared_ptr<web::Gate> make_gate() {
  const auto at_once = [](const task::LoopTasks::Job& job) {
    job()();
    return true;
  };
  const auto verify = [](const std::string& password, const std::string& hash) { return password == hash; };
  auto gate = std::make_shared<web::Gate>(std::make_shared<web::PasswordCheck>(at_once, verify));
  auto policy = std::make_shared<web::Policy>();
  policy->users = {{"alice", "secret"}};
  policy->headers = "X-Frame-Options: deny\r\nX-Content-Type-Options: nosniff\r\n";
  policy->rate_limit = config::RateLimit{std::chrono::hours(1), 8};
  gate->use(policy);
  return gate;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = data[0] == 0 ? size : data[0];
  SessionFixture fixture;
  fixture.context->limits.max_header_bytes = 128 + data[1];
  if (data[1] % 2 == 1) fixture.context->access = make_gate();
  fixture.start();
  std::string received;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  while (!bytes.empty()) {
    received += fixture.exchange(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  fixture.close_client();
  received += fixture.received();
  if (fixture.session_exists()) fail("the session outlives its client", received);
  for (std::string_view rest = received; !rest.empty();) take_response(rest);
  return 0;
}
