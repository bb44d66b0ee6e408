// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/client/client.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "asio/beast.h"
#include "asio/ssl.h"
#include "http/client/address.h"
//
#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace rdma_exporter::http {
namespace {

namespace wire = beast::http;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Endpoints = std::vector<asio::ip::tcp::endpoint>;

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
  if (error == wire::error::body_limit || error == wire::error::header_limit) return core::too_long_error();
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
class ClientConnection {
 public:
  ClientConnection() = default;
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;
  virtual ~ClientConnection() = default;
  virtual ErrorCode write(const std::string& text) = 0;
  /// Appends what comes next to the buffer; asio::error::eof at the end.
  virtual ErrorCode read(beast::flat_buffer& buffer) = 0;
};

template <typename Stream>
class ClientConnectionOver final : public ClientConnection {
 public:
  ClientConnectionOver(Exchange& exchange, Stream& stream) : exchange_(exchange), stream_(stream) {}

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

std::string text_of(const Url& url, const ClientRequest& request) {
  std::string text = std::string(request.method) + " " + url.target +
                     " HTTP/1.1\r\nHost: " + url.host_header() +
                     "\r\nUser-Agent: rdma_exporter\r\nConnection: close\r\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
  if (!request.body.empty()) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n" + request.body;
}

using Answer = wire::response_parser<wire::string_body>;

// Reads until the parser has the header, or all where it is eager.
ErrorCode receive(ClientConnection& connection, beast::flat_buffer& buffer, Answer& answer) {
  while (answer.eager() ? !answer.is_done() : !answer.is_header_done()) {
    ErrorCode error;
    const std::size_t used = answer.put(buffer.data(), error);  // of nothing: 0 and no error
    buffer.consume(used);
    if (error && error != wire::error::need_more) return error;
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

core::Result<ClientAnswer> ask_over(ClientConnection& connection, const Url& url,
                                    const ClientRequest& request) {
  if (const auto error = connection.write(text_of(url, request))) return failed(error, "sending");
  beast::flat_buffer buffer;
  Answer answer;
  answer.body_limit(request.max_bytes);
  // The header alone at first: Beast 1.74 reserves what Content-Length says before it looks at the limit.
  if (const auto error = receive(connection, buffer, answer)) return failed(error, "receiving");
  if (answer.content_length().value_or(0) > request.max_bytes) return core::too_long_error();
  answer.eager(true);
  if (const auto error = receive(connection, buffer, answer)) return failed(error, "receiving");
  const auto type = answer.get()[wire::field::content_type];
  return ClientAnswer{answer.get().result_int(), std::string(type), std::move(answer.get().body())};
}

// The files of `tls`; the error says which one is no good.
core::Result<void> load(asio::ssl::context& context, const ClientTls& tls) {
  ErrorCode error;
  if (tls.authority_file.empty())
    trust_system_authorities(context, error);
  else
    context.load_verify_file(tls.authority_file, error);
  if (error) return failed(error, "reading the authority's certificate " + tls.authority_file);
  if (tls.certificate_file.empty()) return {};
  // Without it OpenSSL asks for a passphrase on the terminal.
  context.set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return ""; }, error);
  context.use_certificate_chain_file(tls.certificate_file, error);
  if (error) return failed(error, "reading the certificate " + tls.certificate_file);
  context.use_private_key_file(tls.key_file, asio::ssl::context::pem, error);
  if (error) return failed(error, "reading the key " + tls.key_file);
  return {};
}

core::Result<ClientAnswer> ask_over_tls(Exchange& exchange, Socket socket, const Url& url,
                                        const ClientTls& tls, const ClientRequest& request) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  if (const auto loaded = load(context, tls); !loaded) return tl::unexpected(loaded.error());
  std::string name = tls.server_name.empty() ? url.host : tls.server_name;
  context.set_verify_mode(asio::ssl::verify_peer);
  context.set_verify_callback(asio::ssl::host_name_verification(name));
  asio::ssl::stream<Socket> stream(std::move(socket), context);
  // SSL_set_tlsext_host_name(), which casts as C does.
  SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  if (const auto error =
          exchange.run([&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); }))
    return failed(error, "TLS");
  ClientConnectionOver connection(exchange, stream);
  return ask_over(connection, url, request);
}

}  // namespace

core::Result<ClientAnswer> ask(const Url& url, const ClientTls& tls, const ClientRequest& request,
                               std::chrono::milliseconds time) {
  Exchange exchange(Clock::now() + time);
  const auto found = endpoints(url);
  if (!found) return tl::unexpected(found.error());
  Socket socket(exchange.io());
  if (const auto error = exchange.run([&](auto done) { asio::async_connect(socket, *found, done); }))
    return failed(error, "connecting");
  if (url.tls) return ask_over_tls(exchange, std::move(socket), url, tls, request);
  ClientConnectionOver connection(exchange, socket);
  return ask_over(connection, url, request);
}

std::string basic_authorization(std::string_view user, std::string_view password) {
  const std::string plain = std::string(user) + ":" + std::string(password);
  std::vector<unsigned char> in(plain.begin(), plain.end());
  std::vector<unsigned char> out(4 * ((in.size() + 2) / 3) + 1);
  const int length = EVP_EncodeBlock(out.data(), in.data(), static_cast<int>(in.size()));
  return "Basic " + std::string(out.begin(), out.begin() + length);
}

}  // namespace rdma_exporter::http
