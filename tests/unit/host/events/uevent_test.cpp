// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/uevent.h"

#include <string>

#include "tests/unit/host/recorded_events.h"

namespace rdma_exporter::host {
namespace {

using test::recorded_event;

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The recording with one text replaced by another.
std::string with(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = text_of(recorded_event(name));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseUevent, ReadsWhatHappenedToWhom) {
  const auto bytes = recorded_event("uevent_add");
  const auto event = parse_uevent(bytes);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "add");
  EXPECT_EQ(event->subsystem, "infiniband");
  EXPECT_EQ(event->device_path, "/devices/virtual/infiniband/rxe_dummy");
  EXPECT_EQ(event->name(), "rxe_dummy");
}

TEST(ParseUevent, ReadsTheNewNameOfARenamedDevice) {
  const auto bytes = recorded_event("uevent_move");
  const auto event = parse_uevent(bytes);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "move");
  EXPECT_EQ(event->name(), "renamed");
}

TEST(ParseUevent, ReadsTheVerbsDeviceThatGoes) {
  const auto bytes = recorded_event("uevent_verbs_remove");
  const auto event = parse_uevent(bytes);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "remove");
  EXPECT_EQ(event->subsystem, "infiniband_verbs");
  EXPECT_TRUE(event->name().starts_with("uverbs"));
}

TEST(ParseUevent, RefusesWhatUdevdSends) {
  std::string text = text_of(recorded_event("uevent_add"));
  EXPECT_FALSE(parse_uevent(bytes_of(std::string("libudev\0", 8) + text)).has_value());
}

TEST(ParseUevent, RefusesAHeadThatItsKeysContradict) {
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "add@", "remove@"))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "DEVPATH=/devices", "DEVPATH=/other"))).has_value());
}

TEST(ParseUevent, RefusesTextsThatAreNoKeys) {
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "SEQNUM=", "SEQNUM:"))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "SUBSYSTEM=", "SYSTEM="))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "add@", "@"))).has_value());
  EXPECT_FALSE(parse_uevent(bytes_of(with("uevent_add", "add@", "add"))).has_value());
}

TEST(ParseUevent, RefusesMoreThanTheKernelSends) {
  const std::string text = text_of(recorded_event("uevent_add"));
  std::string padded = text + "X=" + std::string(4096 - text.size() - 3, 'x') + '\0';
  ASSERT_EQ(padded.size(), 4096U);
  EXPECT_TRUE(parse_uevent(bytes_of(padded)).has_value());
  padded = text + "X=" + std::string(4096 - text.size() - 2, 'x') + '\0';
  EXPECT_FALSE(parse_uevent(bytes_of(padded)).has_value());
}

TEST(ParseUevent, RefusesOneThatIsCutInsideAText) {
  const auto bytes = recorded_event("uevent_verbs_remove");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const bool at_the_end_of_a_text = size > 0 && bytes[size - 1] == std::byte{0};
    if (at_the_end_of_a_text) continue;
    EXPECT_FALSE(parse_uevent(Bytes(bytes).first(size)).has_value()) << size;
  }
}

}  // namespace
}  // namespace rdma_exporter::host
