// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "library/families.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_type.h>

#include <cmath>
#include <limits>
#include <protozero/pbf_message.hpp>
#include <protozero/varint.hpp>
#include <string>
#include <utility>

namespace rdma_exporter::library {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using protozero::data_view;
using protozero::pbf_reader;

// Numbers of fields and types: io/prometheus/client/metrics.proto in github.com/prometheus/client_model
// 0.3.0.
namespace family_field {
constexpr int kName = 1, kHelp = 2, kType = 3, kMetric = 4;
}
namespace metric_field {
constexpr int kLabel = 1, kGauge = 2, kCounter = 3, kHistogram = 7;
}
namespace histogram_field {
constexpr int kCount = 1, kSum = 2, kBucket = 3;
}
constexpr int kFirst = 1,
              kSecond = 2;  // name and value of a label; count and bound of a bucket; a number's value

MetricType type_of(std::int32_t number) {
  if (number == 0) return MetricType::Counter;
  if (number == 1) return MetricType::Gauge;
  return number == 4 ? MetricType::Histogram : MetricType::Untyped;
}

ClientMetric::Label label(pbf_reader message) {
  ClientMetric::Label label;
  while (message.next()) {
    if (message.tag() == kFirst) {
      label.name = message.get_string();
    } else if (message.tag() == kSecond) {
      label.value = message.get_string();
    } else {
      message.skip();
    }
  }
  return label;
}

double number(pbf_reader message) { return message.next(kFirst) ? message.get_double() : 0; }

ClientMetric::Bucket bucket(pbf_reader message) {
  ClientMetric::Bucket bucket;
  while (message.next()) {
    if (message.tag() == kFirst) {
      bucket.cumulative_count = message.get_uint64();
    } else if (message.tag() == kSecond) {
      bucket.upper_bound = message.get_double();
    } else {
      message.skip();
    }
  }
  return bucket;
}

ClientMetric::Histogram histogram(pbf_reader message) {
  ClientMetric::Histogram histogram;
  while (message.next()) {
    switch (message.tag()) {
      case histogram_field::kCount:
        histogram.sample_count = message.get_uint64();
        break;
      case histogram_field::kSum:
        histogram.sample_sum = message.get_double();
        break;
      case histogram_field::kBucket:
        histogram.bucket.push_back(bucket(message.get_message()));
        break;
      default:
        message.skip();
    }
  }
  // The text format has a bucket for all, protobuf need not.
  if (histogram.bucket.empty() || !std::isinf(histogram.bucket.back().upper_bound))
    histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  return histogram;
}

ClientMetric metric(pbf_reader message) {
  ClientMetric metric;
  while (message.next()) {
    switch (message.tag()) {
      case metric_field::kLabel:
        metric.label.push_back(label(message.get_message()));
        break;
      case metric_field::kGauge:
        metric.gauge.value = number(message.get_message());
        break;
      case metric_field::kCounter:
        metric.counter.value = number(message.get_message());
        break;
      case metric_field::kHistogram:
        metric.histogram = histogram(message.get_message());
        break;
      default:
        message.skip();
    }
  }
  return metric;
}

MetricFamily family(pbf_reader message) {
  MetricFamily family;
  while (message.next()) {
    switch (message.tag()) {
      case family_field::kName:
        family.name = message.get_string();
        break;
      case family_field::kHelp:
        family.help = message.get_string();
        break;
      case family_field::kType:
        family.type = type_of(message.get_enum());
        break;
      case family_field::kMetric:
        family.metric.push_back(metric(message.get_message()));
        break;
      default:
        message.skip();
    }
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> families(std::string_view page) {
  std::vector<MetricFamily> all;
  const char* at = page.data();
  const char* const end = at + page.size();
  while (at != end) {
    const auto size = protozero::decode_varint(&at, end);
    if (size > static_cast<std::uint64_t>(end - at)) throw protozero::end_of_buffer_exception();
    all.push_back(family(pbf_reader(data_view(at, static_cast<std::size_t>(size)))));
    at += size;
  }
  return all;
}

}  // namespace rdma_exporter::library
