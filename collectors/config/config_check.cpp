// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector config_check: the settings checks of the command doctor as metrics, so that drift is noticed.
// They run in the background (config_checks.h); a scrape serves the last findings.
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
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

constexpr core::MetricDesc kCheck{
    "rdma_config_check",
    core::MetricType::gauge,
    "device,port,netdev,check",
    "",
    "Verdict of a configuration check: 0 ok, 1 warning, 2 critical. Absent if the check does not apply or "
    "could not be made; ok verdicts appear only with --metrics.set=full. docs/DOCTOR.md explains what each "
    "check means and what to do; `rdma_exporter doctor` shows the evidence",
    "see docs/DOCTOR.md"};
constexpr core::MetricDesc kChecks{"rdma_config_checks",
                                   core::MetricType::gauge,
                                   "device,verdict",
                                   "checks",
                                   "Number of configuration checks by verdict: ok, warning, critical. device "
                                   "is empty for checks of the host",
                                   "see docs/DOCTOR.md"};
constexpr std::array kFamilies{&kCheck, &kChecks};
static_assert(core::valid(kCheck) && core::valid(kChecks));

std::uint64_t value_of(doctor::Verdict verdict) {
  if (verdict == doctor::Verdict::critical) return 2;
  return verdict == doctor::Verdict::warning ? 1 : 0;
}

class ConfigCheckJob : public core::Job {
 public:
  ConfigCheckJob(std::shared_ptr<ConfigChecks> checks, const Context& context)
      : Job("config_check", ""),
        checks_(std::move(checks)),
        settings_(context.config_check),
        lean_(!context.metrics.full()) {}

  void run(core::JobRun& run) override {
    checks_->start_due(run.now());
    if (std::exchange(first_, false)) checks_->wait(settings_.first_wait);
    const std::uint64_t version = checks_->version();
    if (version != seen_version_ || schedule_.due(run.now())) render(run.now());
    seen_version_ = version;
    for (const auto& [labels, value] : rows_) run.samples().add_stable(kCheck, labels, value);
    for (const auto& [labels, count] : counts_)
      if (!lean_ || count > 0) run.samples().add_stable(kChecks, labels, count);
  }

 private:
  static constexpr std::array<std::string_view, 3> kVerdicts{"ok", "warning", "critical"};  // as value_of()
  struct Row {
    std::string device;
    std::uint64_t verdict;
  };

  // Several findings of one check about the same object become one series, with the worst verdict.
  void render(core::JobRun::Clock::time_point now) {
    schedule_.restart(now);
    rows_.clear();
    counts_.clear();
    std::map<std::string, Row> rows;
    checks_->visit(now, [&rows](const doctor::Finding& finding) {
      const std::string labels = core::render_labels({{"device", finding.subject.device},
                                                      {"port", finding.subject.port},
                                                      {"netdev", finding.subject.netdev},
                                                      {"check", finding.check->id}});
      Row& row = rows.try_emplace(labels, Row{finding.subject.device, 0}).first->second;
      row.verdict = std::max(row.verdict, value_of(finding.verdict));
    });
    for (const auto& [labels, row] : rows) {
      if (!lean_ || row.verdict > 0) rows_.emplace(labels, row.verdict);
      for (std::uint64_t verdict = 0; verdict < kVerdicts.size(); ++verdict)  // also those that are 0
        counts_[core::render_labels({{"device", row.device}, {"verdict", kVerdicts[verdict]}})] +=
            std::uint64_t{verdict == row.verdict};
    }
  }

  const std::shared_ptr<ConfigChecks> checks_;
  const ConfigCheckSettings settings_;
  const bool lean_;
  std::map<std::string, std::uint64_t> rows_;
  std::map<std::string, std::uint64_t> counts_;
  std::uint64_t seen_version_ = 0;
  task::Schedule schedule_{
      settings_.interval};  ///< what has become too old is looked for as often as it is read
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
    return std::make_shared<ConfigCheckJob>(checks_, context_);
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
    "Configuration checks, the same as those of the doctor command: MTU, GIDs, PFC, ECN, PCIe and others",
    true, families, [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<ConfigCheckCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
