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
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

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

// What carries a request and its answer. TCP and TLS behind one interface: HTTP is compiled once.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;
  virtual ErrorCode write(const std::string& text) = 0;
  /// Appends what comes next to the buffer; asio::error::eof at the end.
  virtual ErrorCode read(beast::flat_buffer& buffer) = 0;
};

template <typename Stream>
class ConnectionOver final : public Connection {
 public:
  ConnectionOver(Exchange& exchange, Stream& stream) : exchange_(exchange), stream_(stream) {}

  ErrorCode write(const std::string& text) override {
    return exchange_.run([&](auto done) { asio::async_write(stream_, asio::buffer(text), done); });
  }
  ErrorCode read(beast::flat_buffer& buffer) override {
    constexpr std::size_t kAtOnce = 65'536;
    return exchange_.run([&](auto done) {
      stream_.async_read_some(buffer.prepare(kAtOnce),
                              [&buffer, done](const ErrorCode& error, std::size_t n) {
                                buffer.commit(n);
                                done(error);
                              });
    });
  }

 private:
  Exchange& exchange_;
  Stream& stream_;
};

std::string request(const Url& url, std::chrono::seconds refresh) {
  return "GET " + url.target + " HTTP/1.1\r\nHost: " + url.host_header() +
         "\r\nUser-Agent: rdma_exporter\r\nAccept: application/json\r\nConnection: close\r\n" +
         "X-Prometheus-Refresh-Interval-Seconds: " + std::to_string(refresh.count()) + "\r\n\r\n";
}

using Answer = http::response_parser<http::string_body>;

// Reads until the parser has the header, or all where it is eager.
ErrorCode receive(Connection& connection, beast::flat_buffer& buffer, Answer& answer) {
  while (answer.eager() ? !answer.is_done() : !answer.is_header_done()) {
    ErrorCode error;
    const std::size_t used = answer.put(buffer.data(), error);  // of nothing: 0 and no error
    buffer.consume(used);
    if (error && error != http::error::need_more) return error;
    if (!error && used > 0) continue;
    error = connection.read(buffer);
    if (error == asio::error::eof) {
      answer.put_eof(error);
      return error;
    }
    if (error) return error;
  }
  return {};
}

core::Result<std::string> ask(Connection& connection, const Url& url, std::chrono::seconds refresh) {
  if (const auto error = connection.write(request(url, refresh))) return failed(error, "sending");
  beast::flat_buffer buffer;
  Answer answer;
  answer.body_limit(kMaxListBytes);
  // The header alone at first: Beast 1.74 reserves what Content-Length says before it looks at the limit.
  if (const auto error = receive(connection, buffer, answer)) return failed(error, "receiving");
  if (answer.content_length().value_or(0) > kMaxListBytes) return core::too_long_error();
  answer.eager(true);
  if (const auto error = receive(connection, buffer, answer)) return failed(error, "receiving");
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
           const_cast<char*>(url.host.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  if ((error =
           exchange.run([&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); })))
    return failed(error, "TLS");
  ConnectionOver connection(exchange, stream);
  return ask(connection, url, refresh);
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
  if (url.tls) return ask_over_tls(exchange, std::move(socket), url, authority_file, refresh);
  ConnectionOver connection(exchange, socket);
  return ask(connection, url, refresh);
}

Reading HttpSource::read() {
  auto list = fetch(url_, authority_file_, kTime, refresh_).and_then(parse_target_list);
  if (list) return {std::move(*list), {}};
  return {std::nullopt, {std::move(list.error())}};
}

}  // namespace rdma_exporter::discovery
