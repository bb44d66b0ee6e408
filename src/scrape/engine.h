// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "asio/asio.h"
#include "core/metric.h"
#include "core/sample_batch.h"
#include "scrape/collection.h"
#include "scrape/job_source.h"
#include "scrape/pages.h"

namespace rdma_exporter::scrape {

struct EngineOptions {
  unsigned max_workers = 32;
  core::MetricSet set = core::MetricSet::full;  ///< of the families that are exported
  std::size_t series_per_device = 5000;
  std::size_t page_bytes = std::size_t{64} << 20U;  ///< maximum size of a page before compression
  /// The pages of the process: successive engines share them.
  std::shared_ptr<PageBudget> pages = std::make_shared<PageBudget>();
  std::optional<double> start_time = {};  ///< see core::make_format_writer()
  /// Called on the thread that prints, one call at a time; must not throw.
  Printer::Observer observer = {};
  std::chrono::milliseconds discovery_timeout{5000};
  /// How often to check a collection in flight for missing workers and timed-out jobs.
  std::chrono::milliseconds tick{25};
};

/// Serves scrapes: runs one collection at a time on worker threads, and answers each scrape when the
/// collection is complete or the scrape's deadline has passed, whichever comes first. Scrapes that arrive
/// while a collection is in flight join it, even with another format or with other collectors, whose jobs are
/// then added. Public functions are called on the thread of `io` only; nothing here blocks it.
class Engine {
 public:
  /// Receives the page. Must not throw.
  using Answer = std::function<void(PagePtr)>;

  /// `families` gives the order of the page and must contain every family that can occur. `self_metrics` adds
  /// samples that do not belong to a job: build, process, HTTP. It is called on any thread, one call at a
  /// time.
  Engine(boost::asio::io_context& io, JobSource& source, const EngineOptions& options,
         const std::vector<const core::MetricDesc*>& families, Printer::SelfMetrics self_metrics);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Answers with the page that `request` describes, never later than `deadline` plus the time to print it,
  /// or with null if there is no room for it. A page that is printed on the thread of `io` because of a
  /// deadline is not compressed. If it throws for lack of memory, there is no answer.
  void scrape(PageRequest request, Clock::time_point deadline, Answer answer);

  /// Whether no scrape is waiting for an answer.
  bool idle() const { return !current_; }

  /// Waits until the workers have ended. False if some are stuck in the kernel at `deadline`; the process
  /// should then end without running destructors.
  bool stop(Clock::time_point deadline);

  /// Families of the engine itself and of its slots.
  static std::vector<const core::MetricDesc*> families();

 private:
  struct Waiter;

  void join(Waiter& waiter);
  bool has_time_for(const Waiter& waiter) const;
  void start_collection();
  void wait_tick();
  void on_deadline(const std::shared_ptr<Waiter>& waiter);
  PagePtr print_now(const Collection& collection, const PageRequest& request) noexcept;
  void end_now(const std::shared_ptr<Collection>& collection) noexcept;
  void start_next() noexcept;
  void give_up() noexcept;
  void deliver(const std::shared_ptr<Collection>& collection);
  void report(core::SampleBatch& out) const;

  boost::asio::io_context& io_;
  const EngineOptions options_;
  std::shared_ptr<Shared> shared_;
  boost::asio::steady_timer tick_;
  std::uint64_t cycle_ = 0;
  std::shared_ptr<Collection> current_;
  std::shared_ptr<Pages> pages_;  ///< pages of the current collection
  std::vector<std::shared_ptr<Waiter>> waiters_;
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  ///< what is posted to io_ looks whether this is still here
  Printer printer_;
  std::atomic<std::uint64_t> collections_{0};
};

}  // namespace rdma_exporter::scrape
