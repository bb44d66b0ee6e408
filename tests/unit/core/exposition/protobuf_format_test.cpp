// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/protobuf_format.h"

#include <gtest/gtest.h>

#include <array>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include "core/exposition/page_writer.h"
#include "core/histogram.h"
#include "core/labels.h"

// tests/e2e reads the pages with the published schema and with Prometheus; here it is about what those cannot
// see in the exporter's own metrics.
namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kUp{"rdma_up", MetricType::gauge, "device", "", "Up \"or\" \\ not", "x"};
constexpr MetricDesc kTime{"rdma_probe_seconds", MetricType::histogram, "target", "seconds", "Time", "x"};
constexpr MetricDesc kDrops{"rdma_drops_total", MetricType::counter, "", "packets", "Drops", "x"};
constexpr std::array kFamilies{&kUp, &kTime, &kDrops};

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

// enum MetricType of the schema.
TEST(ProtobufFormat, SaysWhatEachFamilyIs) {
  constexpr std::array kBounds{0.001};
  SampleBatch batch;
  batch.add(kUp, {}, std::uint64_t{1});
  batch.add(kTime, {}, Histogram(kBounds).data());
  batch.add(kDrops, {}, std::uint64_t{1});
  std::vector<std::int32_t> types;
  for (const std::string& message : messages(batch)) {
    protozero::pbf_reader reader(message);
    ASSERT_TRUE(reader.next(3));
    types.push_back(reader.get_enum());
  }
  EXPECT_EQ(types, (std::vector{1, 4, 0}));
}

TEST(ProtobufFormat, WritesTheOwnLabelsOfASeriesBehindItsOwners) {
  SampleBatch batch;
  const std::string owner = render_labels({{"device", "d"}});
  batch.add_stable(kUp, owner, std::uint64_t{1}, "port=\"1\"");
  const std::string metric = field(messages(batch).at(0), {4});
  std::vector<std::string> names;
  protozero::pbf_reader reader(metric);
  while (reader.next()) reader.tag() == 1 ? names.push_back(field(reader.get_string(), {1})) : reader.skip();
  EXPECT_EQ(names, (std::vector<std::string>{"device", "port"}));
}

// google.protobuf.Timestamp: seconds, and the rest in nanoseconds.
TEST(ProtobufFormat, WritesTheTimeOfAnExemplarToTheNanosecond) {
  constexpr std::array kBounds{0.001};
  Histogram histogram(kBounds);
  histogram.observe(0.0005, "trace=\"a\"");
  HistogramData data = histogram.data();
  data.buckets.at(0).exemplar->timestamp = 1'760'000'000.25;
  SampleBatch batch;
  batch.add(kTime, {}, std::move(data));
  const std::string time = field(messages(batch).at(0), {4, 7, 3, 3, 3});
  protozero::pbf_reader reader(time);
  ASSERT_TRUE(reader.next(1));
  EXPECT_EQ(reader.get_int64(), 1'760'000'000);
  ASSERT_TRUE(reader.next(2));
  EXPECT_EQ(reader.get_int32(), 250'000'000);
}

}  // namespace
}  // namespace rdma_exporter::core
