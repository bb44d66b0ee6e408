// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/survey.h"

#include <algorithm>

#include "app/setup/collector_settings.h"

namespace rdma_exporter::commands {
namespace {

std::vector<const collectors::CollectorSpec*> specs_of(std::span<const std::string_view> names) {
  std::vector<const collectors::CollectorSpec*> specs;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors())
    if (std::find(names.begin(), names.end(), spec->name) != names.end()) specs.push_back(spec);
  return specs;
}

// Without raw families, and without an interval between readings of driver statistics.
collectors::Context make_context(host::Host& host, const config::Config& config,
                                 task::Background& background) {
  collectors::Context context{host, collectors::RawPolicy::none};
  context.ethtool.interval = std::chrono::milliseconds(0);
  using Settings = collectors::ResourceSettings;
  context.resource.detail = static_cast<Settings::Detail>(config.resource.detail);
  context.resource.owners = static_cast<Settings::Owners>(config.resource.owners);
  context.resource.owners_top = config.resource.owners_top;
  // For what is read in the background: tables of resources, devlink, modules.
  context.resource.first_wait = context.config_check.first_wait = context.module.first_wait =
      config.scrape.timeout / 2;
  context.background = &background;
  return context;
}

std::vector<Reading> readings_of(const core::JobRun& run) {
  std::vector<Reading> readings;
  for (const core::Sample& sample : run.samples().samples()) {
    if (sample.metric->type == core::MetricType::histogram) continue;
    const double value = sample.is_real ? sample.real : static_cast<double>(sample.integer);
    readings.push_back({sample.metric, sample.labels(), value});
  }
  return readings;
}

}  // namespace

std::string label_value(std::string_view labels, std::string_view name) {
  const std::string start = std::string(name) + "=\"";
  std::size_t at = labels.find(start);
  while (at != std::string_view::npos && at > 0 && labels[at - 1] != ',') at = labels.find(start, at + 1);
  if (at == std::string_view::npos) return {};
  const std::size_t from = at + start.size();
  std::size_t end = from;
  while (end < labels.size() && labels[end] != '"') end += labels[end] == '\\' ? 2U : 1U;
  return std::string(labels.substr(from, end - from));
}

Survey::Survey(host::Host& host, const config::Config& config, std::span<const std::string_view> collectors,
               task::Background& background, task::Background& passes)
    : background_(background),
      context_(make_context(host, config, passes)),
      set_(context_, specs_of(collectors), app::device_filter(config.device)) {}

std::vector<Reading> Survey::collect(Deadline deadline) {
  if (!found_) {
    const auto found =
        run_until<bool>(background_, {[this] { return set_.refresh().has_value(); }}, deadline);
    if (!found.front()) return {};
    found_ = true;
  }
  std::vector<std::function<std::vector<Reading>()>> tasks;
  std::vector<const core::Job*> asked;
  ++cycle_;
  for (const auto& job : set_.jobs()) {
    if (late_.contains(job.get())) continue;
    asked.push_back(job.get());
    tasks.emplace_back([job, cycle = cycle_] {
      core::JobRun run(cycle);
      job->run(run);
      return readings_of(run);
    });
  }
  const auto answers = run_until<std::vector<Reading>>(background_, std::move(tasks), deadline);
  std::vector<Reading> all;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) late_.insert(asked[i]);
    if (answers[i]) all.insert(all.end(), answers[i]->begin(), answers[i]->end());
  }
  return all;
}

}  // namespace rdma_exporter::commands
