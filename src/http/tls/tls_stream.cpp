// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/tls/tls_stream.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <string_view>

namespace rdma_exporter::http {

namespace {

constexpr std::string_view kUseHttps =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 31\r\n"
    "Connection: close\r\n\r\nthis port speaks HTTPS: use it\n";

bool is(const boost::system::error_code& error, int reason) {
  return error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == reason;
}

}  // namespace

void answer_plain_http(TlsStream& stream, const boost::system::error_code& error) {
  if (!is(error, SSL_R_HTTP_REQUEST)) return;
  boost::system::error_code ignored;
  stream.socket().send(asio::buffer(kUseHttps), MSG_DONTWAIT, ignored);
}

std::string handshake_problem(TlsStream& stream, const boost::system::error_code& error) {
  if (is(error, SSL_R_HTTP_REQUEST)) return "the client speaks plain HTTP";
  if (is(error, SSL_R_CERTIFICATE_VERIFY_FAILED)) {
    const long why = ::SSL_get_verify_result(stream.native());
    if (why == X509_V_ERR_APPLICATION_VERIFICATION)
      return "the client's certificate has none of the names in client_allowed_sans";
    return std::string("the client's certificate was rejected: ") + ::X509_verify_cert_error_string(why);
  }
  return error.message();
}

}  // namespace rdma_exporter::http
