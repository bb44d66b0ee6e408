// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/listen_address.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace rdma_exporter::http {
namespace {

/// The endpoints in order, or the error.
std::string endpoints(std::string_view address) {
  const auto found = listen_endpoints(address);
  if (!found) return core::to_string(found.error());
  std::string text;
  for (const TcpEndpoint& endpoint : *found) text += to_string(endpoint) + " ";
  return text;
}

TEST(HttpListenAddress, TakesAPortAloneAsEveryAddressOfBothFamilies) {
  EXPECT_EQ(endpoints(":9400"), "[::]:9400 0.0.0.0:9400 ");
}

TEST(HttpListenAddress, TakesLiteralAddresses) {
  EXPECT_EQ(endpoints("127.0.0.1:9400"), "127.0.0.1:9400 ");
  EXPECT_EQ(endpoints("0.0.0.0:0"), "0.0.0.0:0 ");
  EXPECT_EQ(endpoints("[::1]:65535"), "[::1]:65535 ");
  EXPECT_EQ(endpoints("[::]:1"), "[::]:1 ");
}

TEST(HttpListenAddress, ResolvesANameToOneAddress) {
  EXPECT_EQ(endpoints("localhost:9400"), "127.0.0.1:9400 ");
}

TEST(HttpListenAddress, ReplacesANameOnly) {
  EXPECT_EQ(numeric_address("localhost:9400"), "127.0.0.1:9400");
  for (const char* address : {":9400", "127.0.0.1:9400", "[::1]:0", "[fe80::1%1]:9400", "unix:/run/x.sock"})
    EXPECT_EQ(numeric_address(address), address);
  EXPECT_FALSE(numeric_address("no.such.host.invalid:1"));
}

TEST(HttpListenAddress, NamesFlagAndAddressInWhatItDoesNotUnderstand) {
  const std::string want = "want HOST:PORT, :PORT or [IPV6]:PORT, with a port from 0 to 65535";
  for (const std::string_view address :
       {"", "9400", "host", ":", ":65536", ":-1", ":http", ":9400 ", "::1:9400", "[]:9400", "[::1:9400",
        "::1]:9400", "unix:/run/socket"}) {
    EXPECT_EQ(endpoints(address), "--web.listen-address: \"" + std::string(address) + "\": " + want)
        << address;
  }
  EXPECT_EQ(endpoints("[::g]:1"), "--web.listen-address: \"[::g]:1\": not an IPv6 address");
  EXPECT_EQ(endpoints("no.such.host.invalid:1"),
            "--web.listen-address: \"no.such.host.invalid:1\": this host name has no address");
}

TEST(HttpListenAddress, FallsBackToTheNextEndpointWhenTheHostHasNotTheFirst) {
  asio::io_context io;
  const std::vector<TcpEndpoint> wanted{{asio::ip::make_address("2001:db8::1"), 0},
                                        {asio::ip::make_address("127.0.0.1"), 0}};
  const auto listener = open_tcp_listener(io, ":0", wanted);
  ASSERT_TRUE(listener.has_value()) << core::to_string(listener.error());
  EXPECT_TRUE(to_string(listener->local_endpoint()).starts_with("127.0.0.1:"));
}

TEST(HttpListenAddress, SaysWhyAnAddressCannotBeHad) {
  asio::io_context io;
  const auto listener =
      open_tcp_listener(io, "192.0.2.1:9400", {{asio::ip::make_address("192.0.2.1"), 9400}});
  ASSERT_FALSE(listener.has_value());
  EXPECT_EQ(
      core::to_string(listener.error()),
      "cannot listen on \"192.0.2.1:9400\": cannot assign requested address (this host does not have that "
      "address; choose another address with --web.listen-address)");
  EXPECT_EQ(listener.error().os_errno, EADDRNOTAVAIL);
}

}  // namespace
}  // namespace rdma_exporter::http
