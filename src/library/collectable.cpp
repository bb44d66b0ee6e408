// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <rdma_exporter/collectable.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "app/command.h"
#include "app/exporter.h"
#include "app/process_state.h"
#include "app/setup/setup.h"
#include "asio/asio.h"
#include "config/parse.h"
#include "library/families.h"
#include "log/caught.h"

namespace rdma_exporter {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kGraceForWorkers = 300ms;

template <typename T>
T or_throw(core::Result<T> result) {
  if (!result) throw std::invalid_argument("rdma_exporter: " + core::to_string(result.error()));
  return std::move(*result);
}

app::Setup set_up(const CollectableOptions& options) {
  std::vector<const char*> arguments{"rdma_exporter"};
  const std::string file = "--config.file=" + options.config_file;
  if (!options.config_file.empty()) arguments.push_back(file.c_str());
  for (const std::string& flag : options.flags) arguments.push_back(flag.c_str());
  auto parsed = or_throw(config::parse(arguments, app::collector_choices()));
  if (parsed.action != config::Action::serve)
    throw std::invalid_argument("rdma_exporter: the flags request something other than metrics");
  parsed.config.web = {};
  parsed.config.textfile.clear();
  parsed.config.probe = {};
  app::setup_log(parsed.config.log);
  return or_throw(app::set_up(std::move(parsed.config), app::Purpose::serve));
}

// The limit is the program's, and so is most of it.
unsigned kept_files(unsigned wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<unsigned>(std::min<rlim_t>(wanted, limit.rlim_cur / 4));
}

// Threads that are started while it exists take no signals: those are the program's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

bool is_of_the_daemon(std::string_view family) {
  return family.starts_with("process_") || family.starts_with("rdma_exporter_http_") ||
         family.starts_with("rdma_exporter_config_");
}

// What finds no memory costs the collection that wanted it.
void run_on(asio::io_context& io) noexcept {
  for (;;) {
    try {
      io.run();
      return;
    } catch (const std::bad_alloc& error) {
      log::caught("out of memory", error);
    }
  }
}

// What a thread that is stuck in the kernel may still use when the Collectable has gone.
struct Engine {
  asio::io_context io{1};
  app::ProcessState state{.probe = probe::Agent({})};  // which nothing configures
  std::unique_ptr<app::Exporter> exporter;
};

}  // namespace

// The exporter on an io thread, as in the daemon.
class Collectable::Impl {
 public:
  explicit Impl(const CollectableOptions& options)
      : setup_(set_up(options)),
        engine_(std::make_unique<Engine>()),
        work_(asio::make_work_guard(engine_->io)) {
    const NoSignals scope;
    engine_->exporter =
        app::Exporter::make(setup_.config, setup_.replay, kept_files(setup_.config.limits.kept_files),
                            engine_->io, app::Purpose::serve, engine_->state);
    thread_ = std::thread([io = &engine_->io] { run_on(*io); });
  }

  ~Impl() {
    work_.reset();
    engine_->io.stop();
    thread_.join();
    if (!engine_->exporter->stop(Clock::now() + kGraceForWorkers)) (void)engine_.release();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // prometheus-cpp catches nothing.
  std::vector<prometheus::MetricFamily> collect() noexcept {
    try {
      const auto page = collect_page().get();
      if (!page || !*page) return {};
      auto all = library::families((*page)->body);
      std::erase_if(all, [](const auto& family) { return is_of_the_daemon(family.name); });
      return all;
    } catch (const std::exception& error) {  // bad_alloc, or std::future_error where that was the engine's
      log::caught("no RDMA metrics", error);
      return {};
    }
  }

 private:
  using Answer = core::Result<web::MetricsSource::Page>;

  std::future<Answer> collect_page() {
    auto promise = std::make_shared<std::promise<Answer>>();
    auto answer = promise->get_future();
    asio::post(engine_->io, [this, promise, deadline = Clock::now() + setup_.config.scrape.timeout] {
      try {
        engine_->exporter->metrics({.format = core::Format::protobuf}, deadline,
                                   [promise](Answer page) { promise->set_value(std::move(page)); });
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    });
    return answer;
  }

  const app::Setup setup_;
  std::unique_ptr<Engine> engine_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

Collectable::Collectable(const CollectableOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Collectable::~Collectable() = default;
std::vector<prometheus::MetricFamily> Collectable::Collect() const { return impl_->collect(); }

}  // namespace rdma_exporter
