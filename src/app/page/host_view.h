// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/sample_batch.h"
#include "doctor/check.h"
#include "doctor/host_facts.h"
#include "doctor/report.h"

namespace rdma_exporter::app {

/// What the exporter's pages for people show: of the last collections the samples that matter to a person.
/// Reads nothing by itself. Thread-safe.
class HostView {
 public:
  using Clock = std::chrono::steady_clock;

  /// `host_name`, `kernel`: of the host whose samples they are; empty: not known.
  HostView(std::string host_name, std::string kernel)
      : host_name_(std::move(host_name)), kernel_(std::move(kernel)) {}

  /// Takes what it needs of a collection that ended at `now`. `whole`: of all collectors; otherwise what
  /// other collectors have said before stays.
  void observe(const std::vector<const core::SampleBatch*>& batches, bool whole,
               Clock::time_point now) noexcept;

  struct Content {
    doctor::Facts facts;
    doctor::Findings findings;
    std::vector<doctor::Owner> owners;
  };
  Content content() const;

  /// Counters are compared over at least this time, so that several servers do not make rates of moments.
  static constexpr std::chrono::seconds kShortest{5};

 private:
  /// The labels of a sample, as in core::Sample.
  struct Labels {
    std::string_view owner;
    std::string_view own;

    std::string joined() const;
  };
  /// Which samples a snapshot has. A host has thousands, and nearly always the same as before: successive
  /// snapshots share it. What many samples have in common stands once: the labels of an owner, and what is
  /// counted of each owner.
  struct Layout {
    struct Text {
      std::uint32_t at;  ///< in `text`
      std::uint32_t length;
    };
    /// What is counted of an owner, or of many.
    struct Quantity {
      const core::MetricDesc* metric;
      Text own;
    };
    struct Place {
      std::uint32_t quantity;  ///< index in `quantities`
      std::uint32_t owner;     ///< index in `owners`
    };
    std::vector<Place> places;
    std::vector<Quantity> quantities;  ///< in the order of their first place
    std::vector<Text> owners;          ///< also in that order
    std::string text;
    std::size_t others = 0;  ///< how many at the end are of collectors that the last collection lacked

    bool equals(Text part, std::string_view other) const {
      return part.length == other.size() &&
             std::char_traits<char>::compare(text.data() + part.at, other.data(), part.length) == 0;
    }
    std::string_view view(Text part) const { return std::string_view(text).substr(part.at, part.length); }
    const core::MetricDesc* metric(std::size_t i) const { return quantities[places[i].quantity].metric; }
    Labels labels(std::size_t i) const {
      return {view(owners[places[i].owner]), view(quantities[places[i].quantity].own)};
    }
    /// Whether place `i` is that of `sample`. `previous`: the sample of place `i - 1`, if there is one.
    bool has(std::size_t i, const core::Sample& sample, const core::Sample* previous) const;
  };
  class LayoutBuilder;
  struct Snapshot {
    std::shared_ptr<const Layout> layout = std::make_shared<const Layout>();
    std::vector<double> values;  ///< one for each place
    std::optional<Clock::time_point> time;

    /// Calls `visit(metric, labels, value)` for each sample.
    template <typename Visit>
    void for_each(Visit visit) const {
      for (std::size_t i = 0; i < values.size(); ++i) visit(*layout->metric(i), layout->labels(i), values[i]);
    }
  };

  /// A family, and whether it is shown.
  struct Family {
    const core::MetricDesc* metric;
    bool wanted;
  };

  bool is_wanted(const core::MetricDesc& metric) {
    Family& family = families_[reinterpret_cast<std::uintptr_t>(&metric) / sizeof metric % families_.size()];
    if (family.metric != &metric) family = {&metric, look_up(metric)};
    return family.wanted;
  }
  bool look_up(const core::MetricDesc& metric);
  Snapshot take(const std::vector<const core::SampleBatch*>& batches, bool whole, Clock::time_point now);
  void add_devices(doctor::Facts& facts) const;
  void add_verdicts(doctor::Findings& findings) const;
  void add_counters(doctor::Facts& facts) const;
  std::vector<doctor::Owner> owners() const;

  const std::string host_name_;
  const std::string kernel_;
  mutable std::mutex mutex_;
  std::unordered_map<const core::MetricDesc*, bool> wanted_;
  std::array<Family, 512> families_{};  ///< of those, the ones looked up last, by address
  Snapshot base_;
  Snapshot latest_;
};

}  // namespace rdma_exporter::app
