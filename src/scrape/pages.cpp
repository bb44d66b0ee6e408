// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/pages.h"

#include <algorithm>
#include <utility>

#include "core/gzip.h"

namespace rdma_exporter::scrape {
namespace {

// A few packets: compressing costs more than sending them.
constexpr std::size_t kSmallPage = 4096;

PagePtr finish(const PageRequest& request, std::string body, Compression compression) {
  auto page = std::make_shared<core::Page>(core::Page{std::move(body), request.format, false});
  if (!request.gzip || compression == Compression::forbidden || page->body.size() < kSmallPage) return page;
  std::string compressed = core::gzip(page->body);
  page->gzip = !compressed.empty();
  if (page->gzip) page->body = std::move(compressed);
  return page;
}

}  // namespace

bool Pages::want(const PageRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Entry& entry) { return entry.request == request; };
  if (std::any_of(entries_.begin(), entries_.end(), same)) return true;
  if (!making_) entries_.push_back({request, nullptr});
  return !making_;
}

std::vector<PageRequest> Pages::take_missing() {
  const std::lock_guard lock(mutex_);
  making_ = true;
  std::vector<PageRequest> missing;
  for (const Entry& entry : entries_)
    if (!entry.page) missing.push_back(entry.request);
  return missing;
}

// Compressing needs the samples no more and takes longer, so it comes after the lock.
void Pages::print(const Collection& collection, std::vector<PageRequest>& requests,
                  std::vector<std::string>& bodies) {
  const std::lock_guard lock(printing_);
  if (!closed_) requests = take_missing();
  for (const PageRequest& request : requests) {
    const auto same = [&](const PageRequest& other) {
      return other.format == request.format && other.collectors == request.collectors;
    };
    const auto first = std::find_if(requests.begin(), requests.end(), same) - requests.begin();
    const auto made = static_cast<std::size_t>(first);
    bodies.push_back(made < bodies.size() ? bodies[made] : printer_.print(collection, request));
  }
}

void Pages::make(const Collection& collection, Compression compression) {
  std::vector<PageRequest> requests;
  std::vector<std::string> bodies;
  print(collection, requests, bodies);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const PagePtr page = finish(requests[i], std::move(bodies[i]), compression);
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.request == requests[i]) entry.page = page;
  }
}

PagePtr Pages::get(const Collection& collection, const PageRequest& request) {
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
