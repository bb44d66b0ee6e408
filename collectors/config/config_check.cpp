// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector config_check: what the command doctor says of the configuration, as metrics, so that drift is
// seen. Read in the background (config_checks.h); a scrape serves the last findings.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "collectors/collector.h"
#include "collectors/config/config_checks.h"
#include "core/labels.h"

namespace rdma_exporter::collectors {
namespace {

constexpr core::MetricDesc kCheck{"rdma_config_check",
                                  core::MetricType::gauge,
                                  "check,device,port,netdev",
                                  "",
                                  "Verdict of a check of the configuration: 0 ok, 1 warning, 2 critical; "
                                  "absent where it does not apply or could not "
                                  "be made. docs/DOCTOR.md says what each check means and what to do; "
                                  "`rdma_exporter doctor` shows the evidence",
                                  "see docs/DOCTOR.md"};
constexpr std::array kFamilies{&kCheck};
static_assert(core::valid(kCheck));

std::uint64_t value_of(doctor::Verdict verdict) {
  if (verdict == doctor::Verdict::critical) return 2;
  return verdict == doctor::Verdict::warning ? 1 : 0;
}

class ConfigCheckJob : public core::Job {
 public:
  ConfigCheckJob(std::shared_ptr<ConfigChecks> checks, const ConfigCheckSettings& settings)
      : Job("config_check", ""), checks_(std::move(checks)), settings_(settings) {}

  void run(core::JobRun& run) override {
    checks_->start_due(run.now());
    if (std::exchange(first_, false)) checks_->wait(settings_.first_wait);
    const std::uint64_t version = checks_->version();
    if (version != seen_version_ || run.now() >= next_) render(run.now());
    seen_version_ = version;
    for (const auto& [labels, value] : rows_) run.samples().add_stable(kCheck, labels, value);
  }

 private:
  // Two findings of one check about one thing are one series, the worse of them.
  void render(core::JobRun::Clock::time_point now) {
    next_ = now + settings_.interval;  // what has become too old is looked for as often
    rows_.clear();
    for (const doctor::Finding& finding : checks_->findings(now)) {
      std::uint64_t& value = rows_[core::render_labels({{"check", finding.check->id},
                                                        {"device", finding.subject.device},
                                                        {"port", finding.subject.port},
                                                        {"netdev", finding.subject.netdev}})];
      value = std::max(value, value_of(finding.verdict));
    }
  }

  const std::shared_ptr<ConfigChecks> checks_;
  const ConfigCheckSettings settings_;
  std::map<std::string, std::uint64_t> rows_;
  std::uint64_t seen_version_ = 0;
  core::JobRun::Clock::time_point next_;
  bool first_ = true;
};

class ConfigCheckCollector : public Collector {
 public:
  explicit ConfigCheckCollector(const Context& context) : context_(context) {
    if (context.background != nullptr)
      checks_ =
          std::make_shared<ConfigChecks>(*context.background, context.host, context.config_check.interval);
  }
  std::shared_ptr<core::Job> host_job() override {
    if (!checks_) return nullptr;
    return std::make_shared<ConfigCheckJob>(checks_, context_.config_check);
  }
  void devices_changed(std::span<const DeviceHandle> handles) override {
    if (!checks_) return;
    std::vector<ConfigChecks::Device> devices;
    for (const DeviceHandle& handle : handles) devices.push_back(handle.device);
    checks_->set_devices(std::move(devices));
  }

 private:
  const Context& context_;
  std::shared_ptr<ConfigChecks> checks_;
};

std::span<const core::MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec config_check_spec;
const CollectorSpec config_check_spec{
    "config_check",
    "Checks of the configuration, those of the command doctor: MTU, GIDs, PFC, ECN, PCIe and others", true,
    families, [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<ConfigCheckCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
