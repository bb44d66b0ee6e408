// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/pages.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/exposition/gzip.h"
#include "log/caught.h"

namespace rdma_exporter::scrape {
namespace {

// A few packets: compressing costs more than sending them.
constexpr std::size_t kSmallPage = 4096;

}  // namespace

Printer::Printer(const std::vector<const core::MetricDesc*>& families, SelfMetrics self_metrics,
                 std::size_t longest, std::optional<double> start_time, Observer observer)
    : self_metrics_(std::move(self_metrics)),
      observer_(std::move(observer)),
      longest_(longest),
      writer_(families),
      self_writer_(families) {
  for (std::size_t i = 0; i < formats_.size(); ++i)
    formats_[i] = core::make_format_writer(static_cast<core::Format>(i), start_time);
  self_batch_.mark_since_start();
}

std::string Printer::print(const Collection& collection, const PageRequest& request) {
  const std::lock_guard lock(mutex_);
  self_batch_.clear();
  std::vector<const core::SampleBatch*> batches;
  collection.gather(request.collectors, batches, self_batch_, Clock::now());
  if (observer_) observer_(batches, request.collectors.has_all());
  self_metrics_(self_batch_);
  const auto index = static_cast<std::size_t>(request.format);
  core::FormatWriter& format = *formats_.at(index);
  std::string body;
  body.reserve(usual_size_.at(index));
  left_out_ += writer_.write(batches, format, body, longest_);
  const core::SampleBatch* const self = &self_batch_;
  self_writer_.write({&self, 1}, format, body);
  format.finish(body);
  usual_size_.at(index) = body.size() + body.size() / 16;
  self_batch_.shrink();
  return body;
}

bool Pages::want(const PageRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Entry& entry) { return entry.request == request; };
  if (std::any_of(entries_.begin(), entries_.end(), same)) return true;
  if (!making_) entries_.push_back({.request = request});
  return !making_;
}

std::vector<PageRequest> Pages::take_missing() {
  const std::lock_guard lock(mutex_);
  making_ = true;
  std::vector<PageRequest> missing;
  for (const Entry& entry : entries_)
    if (!entry.page && !entry.refused) missing.push_back(entry.request);
  // There are few forms of the whole page, and any number of parts of it.
  std::stable_partition(missing.begin(), missing.end(),
                        [](const PageRequest& request) { return request.collectors.has_all(); });
  return missing;
}

// Compressing needs the samples no more and takes longer, so it comes after the lock.
void Pages::print(const Collection& collection, std::vector<PageRequest>& requests,
                  std::vector<PagePtr>& printed) {
  const std::lock_guard lock(printing_);
  if (!closed_) requests = take_missing();
  for (const PageRequest& request : requests) {
    const auto same = [&](const PageRequest& other) {
      return other.format == request.format && other.collectors == request.collectors;
    };
    const auto first = std::find_if(requests.begin(), requests.end(), same) - requests.begin();
    const auto made = static_cast<std::size_t>(first);
    PagePtr page = made < printed.size() ? printed[made] : nullptr;
    if (!page && budget_.has_room())
      page = budget_.hold({printer_.print(collection, request), request.format, false});
    printed.push_back(std::move(page));
  }
}

PagePtr Pages::finish(const PageRequest& request, const PagePtr& printed, Compression compression) {
  if (!printed || !request.gzip || compression == Compression::forbidden) return printed;
  if (printed->body.size() < kSmallPage) return printed;
  std::string compressed = core::gzip(printed->body);
  return compressed.empty() ? printed : budget_.hold({std::move(compressed), request.format, true});
}

void Pages::settle(const PageRequest& request, const PagePtr& page) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.request != request) continue;
    entry.page = page;
    entry.refused = !page;
  }
}

void Pages::refuse_missing() {
  const std::lock_guard lock(mutex_);
  making_ = true;
  for (Entry& entry : entries_) entry.refused = !entry.page;
}

void Pages::make(const Collection& collection, Compression compression) noexcept {
  try {
    std::vector<PageRequest> requests;
    std::vector<PagePtr> printed;
    print(collection, requests, printed);
    for (std::size_t i = 0; i < requests.size(); ++i)
      settle(requests[i], finish(requests[i], std::exchange(printed[i], nullptr), compression));
  } catch (const std::exception& exception) {
    log::caught("pages could not be made", exception);
    refuse_missing();
  }
}

PagePtr Pages::get(const Collection& collection, const PageRequest& request) noexcept {
  make(collection, Compression::forbidden);
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Entry& entry) { return entry.request == request; };
  return std::find_if(entries_.begin(), entries_.end(), same)->page;
}

void Pages::close() {
  const std::lock_guard lock(printing_);
  closed_ = true;
}

}  // namespace rdma_exporter::scrape
