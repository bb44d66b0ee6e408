// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/http_source.h"

#include <openssl/ssl.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "asio/beast.h"
#include "asio/ssl.h"
#include "discovery/dns_source.h"
//
#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace rdma_exporter::discovery {
namespace {

using namespace std::chrono_literals;
namespace http = beast::http;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Endpoints = std::vector<asio::ip::tcp::endpoint>;

constexpr auto kTime = 10s;

core::Result<Endpoints> endpoints(const Url& url) {
  const auto addresses = resolve(url.host);
  if (!addresses) return tl::unexpected(addresses.error());
  Endpoints all;
  for (const std::string& text : *addresses) {
    ErrorCode error;
    const auto address = asio::ip::make_address(text, error);
    if (!error) all.emplace_back(address, url.port);
  }
  return all;
}

tl::unexpected<core::Error> failed(const ErrorCode& error, const std::string& step) {
  if (error == http::error::body_limit || error == http::error::header_limit) return core::too_long_error();
  const bool system = error.category() == boost::system::system_category();
  return core::os_error(system ? error.value() : EPROTO, system ? step : step + " (" + error.message() + ")");
}

// One operation after the other, each until the deadline of all.
class Exchange {
 public:
  explicit Exchange(Clock::time_point deadline) : deadline_(deadline) {}
  asio::io_context& io() { return io_; }

  /// Runs what `start` starts with the handler it is given. After a timeout the operation is still there: the
  /// exchange is over, and nothing runs its io_context any more.
  template <typename Start>
  ErrorCode run(Start start) {
    std::optional<ErrorCode> result;
    start([&result](const ErrorCode& error, const auto&... /*other*/) { result = error; });
    io_.restart();
    while (!result && io_.run_one_until(deadline_) != 0) {
    }
    return result.value_or(ErrorCode(ETIMEDOUT, boost::system::system_category()));
  }

 private:
  asio::io_context io_{1};
  Clock::time_point deadline_;
};

template <typename Stream>
core::Result<std::string> ask(Exchange& exchange, Stream& stream, const Url& url,
                              std::chrono::seconds refresh) {
  http::request<http::empty_body> request(http::verb::get, url.target, 11);
  request.set(http::field::host, url.host_header());
  request.set(http::field::user_agent, "rdma_exporter");
  request.set(http::field::accept, "application/json");
  request.set(http::field::connection, "close");
  request.set("X-Prometheus-Refresh-Interval-Seconds", std::to_string(refresh.count()));
  if (const auto error = exchange.run([&](auto done) { http::async_write(stream, request, done); }))
    return failed(error, "sending");
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> answer;
  answer.body_limit(kMaxListBytes);
  // The header alone at first: Beast 1.74 reserves what Content-Length says before it looks at the limit.
  if (const auto error =
          exchange.run([&](auto done) { http::async_read_header(stream, buffer, answer, done); }))
    return failed(error, "receiving");
  if (answer.content_length().value_or(0) > kMaxListBytes) return core::too_long_error();
  if (const auto error = exchange.run([&](auto done) { http::async_read(stream, buffer, answer, done); }))
    return failed(error, "receiving");
  if (answer.get().result_int() != 200)
    return core::parse_error("is answered with status " + std::to_string(answer.get().result_int()));
  return std::move(answer.get().body());
}

core::Result<std::string> ask_over_tls(Exchange& exchange, Socket socket, const Url& url,
                                       const std::string& authority_file, std::chrono::seconds refresh) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  ErrorCode error;
  if (authority_file.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(authority_file, error);
  if (error) return failed(error, "reading the authority's certificate");
  context.set_verify_mode(asio::ssl::verify_peer);
  context.set_verify_callback(asio::ssl::host_name_verification(url.host));
  asio::ssl::stream<Socket> stream(std::move(socket), context);
  // SSL_set_tlsext_host_name(), which casts as C does.
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           const_cast<char*>(url.host.c_str()));
  if ((error =
           exchange.run([&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); })))
    return failed(error, "TLS");
  return ask(exchange, stream, url, refresh);
}

}  // namespace

core::Result<std::string> fetch(const Url& url, const std::string& authority_file,
                                std::chrono::milliseconds time, std::chrono::seconds refresh) {
  const auto found = endpoints(url);
  if (!found) return tl::unexpected(found.error());
  Exchange exchange(Clock::now() + time);
  Socket socket(exchange.io());
  if (const auto error = exchange.run([&](auto done) { asio::async_connect(socket, *found, done); }))
    return failed(error, "connecting");
  return url.tls ? ask_over_tls(exchange, std::move(socket), url, authority_file, refresh)
                 : ask(exchange, socket, url, refresh);
}

Reading HttpSource::read() {
  auto list = fetch(url_, authority_file_, kTime, refresh_).and_then(parse_target_list);
  if (list) return {std::move(*list), {}};
  return {std::nullopt, {std::move(list.error())}};
}

}  // namespace rdma_exporter::discovery
