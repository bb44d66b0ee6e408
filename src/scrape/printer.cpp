// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/printer.h"

#include <utility>

namespace rdma_exporter::scrape {
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

}  // namespace rdma_exporter::scrape
