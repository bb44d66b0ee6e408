// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/protobuf_format.h"

#include <cmath>
#include <iterator>
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>

#include "core/labels.h"

namespace rdma_exporter::core {
namespace {

using protozero::pbf_builder;

// Field numbers of io/prometheus/client/metrics.proto in github.com/prometheus/client_model 0.3.0.
enum class Family : protozero::pbf_tag_type { name = 1, help = 2, type = 3, metric = 4 };
enum class Metric : protozero::pbf_tag_type { label = 1, gauge = 2, counter = 3, histogram = 7 };
enum class LabelPair : protozero::pbf_tag_type { name = 1, value = 2 };
enum class Number : protozero::pbf_tag_type { value = 1 };  // Gauge and Counter
enum class Histo : protozero::pbf_tag_type {
  sample_count = 1,
  sample_sum = 2,
  bucket = 3,
  schema = 5,
  zero_threshold = 6,
  zero_count = 7,
  positive_span = 12,
  positive_delta = 13,
};
enum class BucketField : protozero::pbf_tag_type { cumulative_count = 1, upper_bound = 2, exemplar = 3 };
enum class SpanField : protozero::pbf_tag_type { offset = 1, length = 2 };
enum class ExemplarField : protozero::pbf_tag_type { label = 1, value = 2, timestamp = 3 };
// google/protobuf/timestamp.proto
enum class Timestamp : protozero::pbf_tag_type { seconds = 1, nanos = 2 };

// enum MetricType
std::int32_t type_number(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return 0;
    case MetricType::gauge:
      return 1;
    case MetricType::histogram:
      return 4;
  }
  return 3;  // UNTYPED
}

template <typename Parent, typename Tag>
void add_labels(Parent& parent, Tag tag, std::string_view block) {
  for_each_label(block, [&](std::string_view name, std::string_view value) {
    pbf_builder<LabelPair> pair(parent, tag);
    pair.add_string(LabelPair::name, name.data(), name.size());
    pair.add_string(LabelPair::value, value.data(), value.size());
  });
}

void add_exemplar(pbf_builder<BucketField>& bucket, const Exemplar& exemplar) {
  pbf_builder<ExemplarField> message(bucket, BucketField::exemplar);
  add_labels(message, ExemplarField::label, exemplar.labels);
  message.add_double(ExemplarField::value, exemplar.value);
  pbf_builder<Timestamp> timestamp(message, ExemplarField::timestamp);
  const double seconds = std::floor(exemplar.timestamp);
  timestamp.add_int64(Timestamp::seconds, static_cast<std::int64_t>(seconds));
  timestamp.add_int32(Timestamp::nanos, static_cast<std::int32_t>((exemplar.timestamp - seconds) * 1e9));
}

void add_native(pbf_builder<Histo>& message, const NativeBuckets& native) {
  message.add_sint32(Histo::schema, kNativeSchema);
  message.add_double(Histo::zero_threshold, kNativeZeroThreshold);
  message.add_uint64(Histo::zero_count, native.zero_count);
  for (const NativeBuckets::Span& span : native.spans) {
    pbf_builder<SpanField> one(message, Histo::positive_span);
    one.add_sint32(SpanField::offset, span.offset);
    one.add_uint32(SpanField::length, span.length);
  }
  // The schema does not say "packed"; a parser has to take both forms.
  message.add_packed_sint64(Histo::positive_delta, native.deltas.begin(), native.deltas.end());
}

void add_histogram(pbf_builder<Metric>& metric, const HistogramData& data) {
  pbf_builder<Histo> message(metric, Metric::histogram);
  message.add_uint64(Histo::sample_count, data.count());
  message.add_double(Histo::sample_sum, data.sum);
  for (const Bucket& bucket : data.buckets) {
    pbf_builder<BucketField> one(message, Histo::bucket);
    one.add_uint64(BucketField::cumulative_count, bucket.cumulative);
    one.add_double(BucketField::upper_bound, bucket.upper_bound);
    if (bucket.exemplar) add_exemplar(one, *bucket.exemplar);
  }
  add_native(message, data.native);
}

void add_sample(pbf_builder<Family>& family, const Sample& sample) {
  pbf_builder<Metric> metric(family, Family::metric);
  add_labels(metric, Metric::label, sample.owner());
  add_labels(metric, Metric::label, sample.own());
  if (sample.metric->type == MetricType::histogram) return add_histogram(metric, *sample.histogram);
  const bool counter = sample.metric->type == MetricType::counter;
  pbf_builder<Number> number(metric, counter ? Metric::counter : Metric::gauge);
  number.add_double(Number::value, sample.is_real ? sample.real : static_cast<double>(sample.integer));
}

}  // namespace

void ProtobufFormat::write(const MetricDesc& metric, std::span<const Sample* const> samples,
                           std::string& out) {
  family_.clear();
  pbf_builder<Family> family(family_);
  family.add_string(Family::name, metric.name.data(), metric.name.size());
  family.add_string(Family::help, metric.help.data(), metric.help.size());
  family.add_enum(Family::type, type_number(metric.type));
  for (const Sample* sample : samples) add_sample(family, *sample);
  protozero::write_varint(std::back_inserter(out), family_.size());
  out += family_;
}

}  // namespace rdma_exporter::core
