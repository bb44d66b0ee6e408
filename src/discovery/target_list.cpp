// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/target_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace rdma_exporter::discovery {
namespace {

constexpr std::size_t kMaxLabels = 64;
constexpr std::size_t kMaxLabel = 1024;

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
    if (key_ != "targets" && key_ != "labels") return fail("has a key other than targets and labels");
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
    return fail("is not valid JSON, from byte " + std::to_string(position) + " on");
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
      return fail("has an invalid target: \"" + text.substr(0, http::kMaxHost) + "\" " +
                  address.error().context.text());
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

core::Result<TargetList> parse_target_list(std::string_view json) {
  if (json.size() > kMaxListBytes) return core::too_long_error();
  Reader reader;
  if (nlohmann::json::sax_parse(json, &reader)) return std::move(reader.list);
  if (reader.too_long) return core::too_long_error();
  return core::parse_error(reader.problem);
}

}  // namespace rdma_exporter::discovery
