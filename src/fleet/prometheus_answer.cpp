// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/prometheus_answer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace rdma_exporter::fleet {
namespace {

constexpr std::size_t kShown = 200;  // bytes of a server's text

// {"status", "data": {"resultType", "result": [{"metric": {...}, "value": [time, "1"]}]}, "warnings": [...]}
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(const std::vector<std::string>& columns) : columns_(columns) {}

  Answer take() {
    if (!answer_.error.empty()) return std::move(answer_);
    if (!error_.empty())
      answer_.error = error_type_ + (error_type_.empty() ? "" : ": ") + error_;
    else if (status_ != "success")
      answer_.error = "is not an answer of a Prometheus API";
    else if (partial_)
      answer_.warnings.emplace_back("the server reports a partial answer");
    if (answer_.error.empty() && type_ != "vector") answer_.error = "contains no vector";
    return std::move(answer_);
  }

  bool start_object(std::size_t /*size*/) override { return enter(); }
  bool start_array(std::size_t /*size*/) override { return enter(); }
  bool end_object() override {
    if (path_ == "/data/result/") answer_.rows.push_back(std::move(row_));
    return leave();
  }
  bool end_array() override { return leave(); }
  bool key(string_t& text) override {
    key_ = std::move(text);
    if (path_ == "/data/result/" && key_ == "metric") row_ = {std::vector<std::string>(columns_.size()), 0};
    return true;
  }
  bool string(string_t& text) override {
    if (path_ == "/") return top(text);
    if (path_ == "/data/" && key_ == "resultType") type_ = text;
    if (path_ == "/data/result/metric/") return label(text);
    if (path_ == "/data/result/value/") return number(text);
    if (path_ == "/warnings/") answer_.warnings.push_back(text.substr(0, kShown));
    return true;
  }
  bool boolean(bool value) override {
    if (path_ == "/" && key_ == "isPartial") partial_ = value;
    return true;
  }
  bool null() override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    answer_.error = "is not JSON, or is cut short, from byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  // An element of an array has the path of the array; depth_ remembers where each array started.
  bool enter() {
    constexpr std::size_t kMaxDepth = 16;
    if (depth_.size() >= kMaxDepth) return fail("is nested too deeply");
    depth_.push_back(path_.size());
    if (path_.empty())
      path_ = "/";
    else if (!key_.empty())
      path_ += std::exchange(key_, "") + "/";
    return true;
  }
  bool leave() {
    path_.resize(depth_.back());
    depth_.pop_back();
    key_.clear();
    return true;
  }
  bool fail(const char* problem) {
    answer_.error = problem;
    return false;
  }
  bool top(const std::string& text) {
    if (key_ == "status") status_ = text;
    if (key_ == "errorType") error_type_ = text.substr(0, kShown);
    if (key_ == "error") error_ = text.substr(0, kShown);
    return true;
  }
  bool label(std::string& text) {
    const auto column = std::find(columns_.begin(), columns_.end(), key_);
    if (column != columns_.end())
      row_.cells[static_cast<std::size_t>(column - columns_.begin())] = std::move(text);
    return true;
  }
  bool number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);  // "+Inf": from_chars() does not accept a plus sign
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row_.value);
    if (end != text.data() + text.size() || (error != std::errc() && error != std::errc::result_out_of_range))
      return fail("has a value that is not a number");
    return true;
  }

  const std::vector<std::string>& columns_;
  Answer answer_;
  Row row_;
  std::string path_, key_, status_, type_, error_type_, error_;
  std::vector<std::size_t> depth_;
  bool partial_ = false;
};

}  // namespace

Answer parse_answer(std::string_view json, const std::vector<std::string>& columns) {
  Reader reader(columns);
  const bool read = nlohmann::json::sax_parse(json, &reader);
  Answer answer = reader.take();
  if (!read && answer.error.empty()) answer.error = "cannot be read";
  if (!answer.error.empty()) answer.rows.clear();
  std::erase_if(answer.rows, [](const Row& row) { return std::isnan(row.value); });
  answer.bytes = json.size();
  return answer;
}

}  // namespace rdma_exporter::fleet
