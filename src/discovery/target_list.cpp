// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/target_list.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace rdma_exporter::discovery {
namespace {

constexpr std::size_t kMaxHost = 253;  // of a DNS name
constexpr std::size_t kMaxLabels = 64;
constexpr std::size_t kMaxLabel = 1024;

bool good_ipv6(std::string_view host) {
  in6_addr ignored{};
  const std::string address(host.substr(0, host.find('%')));
  return ::inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

bool good_host(std::string_view host) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
  };
  if (host.empty() || host.size() > kMaxHost || !std::all_of(host.begin(), host.end(), good)) return false;
  return host.find_first_of(":%") == std::string_view::npos || good_ipv6(host);
}

core::Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    return core::parse_error("has a port that is none");
  return port;
}

// The document as a stream of events: nothing is stored that is not part of a list.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  TargetList list;
  std::string problem;
  bool too_long = false;

  bool start_array(std::size_t /*size*/) override {
    if (place_ == Place::start) return enter(Place::groups);
    if (place_ == Place::group && key_ == "targets") return enter(Place::targets);
    return unexpected("a list");
  }
  bool start_object(std::size_t /*size*/) override {
    if (place_ == Place::group && key_ == "labels") return enter(Place::labels);
    if (place_ != Place::groups) return unexpected("an object");
    list.emplace_back();
    has_targets_ = has_labels_ = false;
    return enter(Place::group);
  }
  bool end_array() override { return enter(place_ == Place::targets ? Place::group : Place::end); }
  bool end_object() override { return enter(place_ == Place::labels ? Place::group : Place::groups); }

  bool key(string_t& text) override {
    key_ = std::move(text);
    if (place_ == Place::labels) return true;
    bool& seen = key_ == "targets" ? has_targets_ : has_labels_;
    if (key_ != "targets" && key_ != "labels") return fail("has a key that is neither targets nor labels");
    return !std::exchange(seen, true) || fail("has " + key_ + " twice in a group");
  }
  bool string(string_t& text) override {
    if (place_ == Place::targets) return add_target(text);
    if (place_ == Place::labels) return add_label(std::move(text));
    return unexpected("a text");
  }
  // What Go makes of a list or a map without anything in it.
  bool null() override { return place_ == Place::group || unexpected("null"); }
  bool boolean(bool /*value*/) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t /*value*/) override { return unexpected("a number"); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return unexpected("a number"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return unexpected("a number");
  }
  bool binary(binary_t& /*value*/) override { return unexpected("bytes"); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*what*/) override {
    return fail("is no JSON, from byte " + std::to_string(position) + " on");
  }

 private:
  enum class Place : unsigned char { start, groups, group, targets, labels, end };

  bool enter(Place place) {
    place_ = place;
    return true;
  }
  bool fail(std::string what) {
    if (problem.empty()) problem = std::move(what);
    return false;
  }
  bool unexpected(const std::string& what) {
    return fail("has " + what + " where " + (place_ == Place::start ? "a list of groups" : "something else") +
                " is expected");
  }
  bool add_target(const std::string& text) {
    if (++targets_ > kMaxListTargets) {
      too_long = true;
      return false;
    }
    auto address = parse_address(text);
    if (!address)
      return fail("has a target that is none: \"" + text.substr(0, kMaxHost) + "\" " +
                  address.error().context);
    list.back().targets.push_back(std::move(*address));
    return true;
  }
  bool add_label(std::string value) {
    auto& labels = list.back().labels;
    if (labels.size() == kMaxLabels || key_.size() > kMaxLabel || value.size() > kMaxLabel) {
      too_long = true;
      return false;
    }
    labels.insert_or_assign(key_, std::move(value));
    return true;
  }

  Place place_ = Place::start;
  std::string key_;
  bool has_targets_ = false;
  bool has_labels_ = false;
  std::size_t targets_ = 0;
};

}  // namespace

core::Result<Address> parse_address(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return core::parse_error("has no ]");
    host = text.substr(1, end - 1);
    if (!good_ipv6(host)) return core::parse_error("has no IPv6 address in its brackets");
    port = text.substr(end + 1);
    has_port = port.starts_with(':');
    if (!port.empty() && !has_port) return core::parse_error("has something else than a port behind ]");
  } else if (const auto colon = text.find(':'); colon == text.rfind(':') && colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
    has_port = true;
  }
  if (!good_host(host)) return core::parse_error("has no host");
  Address address{std::string(host), 0};
  if (!has_port) return address;
  const auto number = parse_port(port.substr(1));
  if (!number) return tl::unexpected(number.error());
  address.port = *number;
  return address;
}

core::Result<TargetList> parse_target_list(std::string_view json) {
  if (json.size() > kMaxListBytes) return core::too_long_error();
  Reader reader;
  if (nlohmann::json::sax_parse(json, &reader)) return std::move(reader.list);
  if (reader.too_long) return core::too_long_error();
  return core::parse_error(reader.problem);
}

}  // namespace rdma_exporter::discovery
