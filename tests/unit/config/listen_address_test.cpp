// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/listen_address.h"

#include <gtest/gtest.h>

#include <string>

namespace rdma_exporter::config {
namespace {

/// "host|port", or what is wrong.
std::string read(std::string_view text) {
  const auto address = parse_listen_address(text);
  return address ? address->host + "|" + std::to_string(address->port) : address.error().context.text();
}

TEST(ConfigListenAddress, SplitsHostAndPort) {
  EXPECT_EQ(read(":9400"), "|9400");
  EXPECT_EQ(read("127.0.0.1:9400"), "127.0.0.1|9400");
  EXPECT_EQ(read("0.0.0.0:65535"), "0.0.0.0|65535");
  EXPECT_EQ(read("localhost:9400"), "localhost|9400");
  EXPECT_EQ(read("node-1.rack_2.example.org:9400"), "node-1.rack_2.example.org|9400");
}

TEST(ConfigListenAddress, SaysWhatIsTakenForAnAddress) {
  EXPECT_EQ(read("http://localhost:9400"), "is a URL, not an address");
  EXPECT_EQ(read("https://[::1]:9400/metrics"), "is a URL, not an address");
  EXPECT_EQ(read("*:9400"), "has * as its host: leave the host out to listen on all addresses");
}

TEST(ConfigListenAddress, TakesPortZeroForAPortThatTheKernelPicks) {
  EXPECT_EQ(read("127.0.0.1:0"), "127.0.0.1|0");
}

TEST(ConfigListenAddress, TakesIpv6InBracketsWithAndWithoutZone) {
  EXPECT_EQ(read("[::1]:9400"), "::1|9400");
  EXPECT_EQ(read("[::]:9400"), "::|9400");
  EXPECT_EQ(read("[fe80::1%eth0]:9400"), "fe80::1%eth0|9400");
}

TEST(ConfigListenAddress, TakesTheAbsolutePathOfAUnixSocket) {
  EXPECT_EQ(parse_listen_address("unix:/run/x.sock")->path, "/run/x.sock");
  EXPECT_EQ(read("unix:9400"), "unix|9400") << "a host can have this name";
  EXPECT_EQ(read("unix:x.sock"), "has an invalid port");
  EXPECT_EQ(read("unix:/run/"), "has no socket name");
  EXPECT_EQ(read("unix:/" + std::string(106, 'x')), "|0");
  EXPECT_EQ(read("unix:/" + std::string(107, 'x')), "has a path longer than 107 bytes");
}

TEST(ConfigListenAddress, RefusesAWrongPort) {
  EXPECT_EQ(read(""), "has no port");
  EXPECT_EQ(read("9400"), "has no port");
  EXPECT_EQ(read("localhost"), "has no port");
  for (const char* text : {":", ":65536", ":-1", ":+1", ":9400x", ": 9400", ":http", "localhost:", "[::1]"}) {
    EXPECT_EQ(read(text), "has an invalid port") << text;
  }
}

TEST(ConfigListenAddress, RefusesAWrongHost) {
  for (const char* text : {"256.0.0.1:1", "1.2.3:1", "1.2.3.4.5:1", "1:1"}) {
    EXPECT_EQ(read(text), "has an invalid IPv4 address") << text;
  }
  for (const char* text : {"-a:1", "a-:1", "a..b:1", "a.:1", "a b:1", "http//x:1", "a/b:1"}) {
    EXPECT_EQ(read(text), "has an invalid host name") << text;
  }
  EXPECT_EQ(read(std::string(64, 'a') + ":1"), "has an invalid host name");
  EXPECT_EQ(read("::1:9400"), "has an IPv6 address without brackets");
  EXPECT_EQ(read("[::1:9400"), "has no ] before the port");
  for (const char* text : {"[]:1", "[1.2.3.4]:1", "[::g]:1", "[::1%]:1", "[localhost]:1"}) {
    EXPECT_EQ(read(text), "has no valid IPv6 address in its brackets") << text;
  }
}

TEST(ConfigListenAddress, DoesNotStopAtAZeroByte) {
  using namespace std::string_literals;
  EXPECT_EQ(read("127.0.0.1\0:1"s), "has an invalid host name");
  EXPECT_EQ(read("[::1\0x]:1"s), "has no valid IPv6 address in its brackets");
}

}  // namespace
}  // namespace rdma_exporter::config
