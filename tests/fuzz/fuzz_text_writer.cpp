// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as label values and numbers: a strict reader accepts the page, and it has every sample.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/exposition/page_writer.h"
#include "core/labels.h"
#include "core/text/escape.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/page_check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

constexpr core::MetricDesc kCounter{
    "rdma_f_total", core::MetricType::counter, "a,b", "", "Help \\ of\ntwo lines", "x"};
constexpr core::MetricDesc kGauge{"rdma_f", core::MetricType::gauge, "a", "", "Help", "x"};
constexpr core::MetricDesc kUnlisted{"rdma_f_unlisted", core::MetricType::gauge, "a", "", "Help", "x"};
constexpr std::array kFamilies{&kCounter, &kGauge};

// Takes pieces off the input.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::string_view text() {
    const std::size_t length = rest_.empty() ? 0 : static_cast<unsigned char>(rest_.front()) % 24;
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    const std::string_view piece = rest_.substr(0, length);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  template <typename T>
  T number() {
    T value{};
    const std::size_t size = std::min(sizeof value, rest_.size());
    std::memcpy(&value, rest_.data(), size);
    rest_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view rest_;
};

void check_utf8(std::string_view text) {
  std::string repaired;
  core::append_utf8(repaired, text);
  check(fuzz::is_utf8(repaired), "repaired text is UTF-8", text);
  check(!fuzz::is_utf8(text) || repaired == text, "UTF-8 is left as it is", text);
}

// What the protobuf format makes of a block is what was rendered.
void check_labels(const std::string& block) {
  std::string again;
  core::for_each_label(
      block, [&](std::string_view name, std::string_view value) { core::append_label(again, name, value); });
  check(again == block, "labels come back out of their block", block);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_utf8(bytes);
  Input input(bytes);
  core::SampleBatch batch;
  std::set<std::string> seen;  // two inputs may be repaired to the same labels; sources see to that
  while (!input.empty()) {
    const std::string_view a = input.text();
    const std::string labels = core::render_labels({{"a", a}, {"b", input.text()}});
    check_labels(labels);
    if (!seen.insert(labels).second) continue;
    batch.add(kCounter, labels, input.number<std::uint64_t>());
    batch.add(kGauge, labels, input.number<double>());
    batch.add(kUnlisted, labels, std::uint64_t{1});
  }
  std::string page;
  const core::SampleBatch* const batches[] = {&batch};
  core::write_text(kFamilies, batches, page);
  const std::string error = fuzz::page_error(page);
  check(error.empty(), error.c_str(), page);
  const auto lines = static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n'));
  check(lines == (seen.empty() ? 0 : 2 * seen.size() + 4), "every sample is on the page", page);
  return 0;
}
