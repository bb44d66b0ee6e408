// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/protobuf_format.h"

#include <gtest/gtest.h>

#include <array>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include "core/histogram.h"
#include "core/labels.h"
#include "core/page_writer.h"

// tests/e2e reads the pages with the published schema and with Prometheus; here it is about what those cannot
// see in the exporter's own metrics.
namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kUp{"rdma_up", MetricType::gauge, "device", "", "Up \"or\" \\ not", "x"};
constexpr MetricDesc kTime{"rdma_probe_seconds", MetricType::histogram, "target", "seconds", "Time", "x"};
constexpr std::array kFamilies{&kUp, &kTime};

std::vector<std::string> messages(const SampleBatch& batch) {
  ProtobufFormat format;
  std::string out;
  const SampleBatch* const batches[] = {&batch};
  PageWriter(kFamilies).write(batches, format, out);
  format.finish(out);
  std::vector<std::string> all;
  const char* at = out.data();
  const char* const end = at + out.size();
  while (at != end) {
    const auto size = protozero::decode_varint(&at, end);
    all.emplace_back(at, size);
    at += size;
  }
  return all;
}

std::string field(std::string_view message, std::initializer_list<std::uint32_t> path) {
  std::string current(message);
  for (const std::uint32_t tag : path) {
    protozero::pbf_reader reader(current);
    if (!reader.next(tag)) return "absent";
    current = reader.get_string();
  }
  return current;
}

TEST(ProtobufFormat, WritesNamesHelpAndLabelsAsTheyAreWithoutEscapes) {
  SampleBatch batch;
  const std::string owner = render_labels({{"device", "a\"b\\c\nd"}});
  batch.add_stable(kUp, owner, std::uint64_t{1}, "port=\"1\"");
  const auto all = messages(batch);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(field(all[0], {1}), "rdma_up");
  EXPECT_EQ(field(all[0], {2}), "Up \"or\" \\ not");
  EXPECT_EQ(field(all[0], {4, 1, 1}), "device");
  EXPECT_EQ(field(all[0], {4, 1, 2}), "a\"b\\c\nd");
}

TEST(ProtobufFormat, MarksAHistogramThatIsEmptyAsANativeOne) {
  constexpr std::array kBounds{0.001};
  SampleBatch batch;
  batch.add(kTime, {}, Histogram(kBounds).data());
  const std::string histogram = field(messages(batch).at(0), {4, 7});
  protozero::pbf_reader reader(histogram);
  ASSERT_TRUE(reader.next(6));
  EXPECT_GT(reader.get_double(), 0);
}

}  // namespace
}  // namespace rdma_exporter::core
