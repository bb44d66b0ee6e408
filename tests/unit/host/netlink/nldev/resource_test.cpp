// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/netlink/ORIGIN.md); expects what the tool `rdma`
// printed for the same objects. Malformed answers are mutations of these.
#include "host/netlink/nldev/resource.h"

#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/unit/support/netlink_mutation.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/statistic_messages.h"

namespace rdma_exporter::host::nldev {
namespace {

using nlohmann::json;
using test::Message;
using test::recorded_message;

constexpr std::array kTables{ResourceTable::qp,    ResourceTable::mr,  ResourceTable::cq,
                             ResourceTable::cm_id, ResourceTable::srq, ResourceTable::ctx};

std::vector<Message> recorded_parts(ResourceTable table) {
  const auto name = [&](int part) {
    return "res_" + std::string(to_string(table)) + "_" + std::to_string(part) + ".bin";
  };
  std::vector<Message> parts;
  for (int part = 0; test::is_recorded(name(part)); ++part) parts.push_back(recorded_message(name(part)));
  return parts;
}

std::vector<Resource> resources(const Message& message, ResourceTable table) {
  std::vector<Resource> all;
  EXPECT_TRUE(parse_resources(message, table, [&](const Resource& r) { all.push_back(r); }).has_value());
  return all;
}

json shown(ResourceTable table) {
  std::ifstream file(SOURCE_DIR "/tests/unit/data/netlink/rdma_resource_show.json");
  return json::parse(file).at(std::string(to_string(table)));
}

template <typename T>
void expect_same(const json& row, const char* field, const std::optional<T>& value) {
  EXPECT_EQ(row.contains(field), value.has_value()) << row << field;
  if (row.contains(field) && value) {
    EXPECT_EQ(row.at(field).get<std::uint64_t>(), *value) << row;
  }
}

void expect_name(const json& row, const char* field, std::string_view name, bool there) {
  EXPECT_EQ(row.contains(field), there) << row << field;
  if (row.contains(field)) {
    EXPECT_EQ(row.at(field).get<std::string>(), name) << row;
  }
}

TEST(ParseResources, AgreesWithTheToolOnEveryObject) {
  const std::map<ResourceTable, const char*> ids{{ResourceTable::qp, "lqpn"},
                                                 {ResourceTable::mr, "mrn"},
                                                 {ResourceTable::cq, "cqn"},
                                                 {ResourceTable::cm_id, "cm-idn"},
                                                 {ResourceTable::ctx, "ctxn"}};
  for (const auto& [table, id] : ids) {
    std::vector<Resource> all;
    const auto parts = recorded_parts(table);
    for (const Message& part : parts)
      for (const Resource& resource : resources(part, table)) all.push_back(resource);
    const json rows = shown(table);
    ASSERT_EQ(all.size(), rows.size()) << to_string(table);
    for (const Resource& r : all) {
      const auto at =  // the tool prints objects without a port first
          std::find_if(rows.begin(), rows.end(),
                       [&, id = id](const json& candidate) { return candidate.at(id) == r.id; });
      ASSERT_NE(at, rows.end()) << to_string(table) << r.id;
      const json& row = *at;
      if (table != ResourceTable::cm_id) expect_same(row, "port", r.port);
      expect_same(row, "pid", r.pid);
      expect_same(row, "mrlen", r.length);
      expect_same(row, "cqe", r.entries);
      expect_same(row, "users", r.users);
      if (r.of_kernel()) expect_name(row, "comm", r.kernel_name, true);
      EXPECT_EQ(r.of_kernel(), !row.contains("pid")) << row;
      if (table == ResourceTable::qp) {
        expect_name(row, "type", qp_type_name(r.type.value()), true);
        expect_name(row, "state", qp_state_name(r.state.value()), true);
      }
      if (table == ResourceTable::cm_id) {
        expect_name(row, "state", cm_id_state_name(r.state.value()), true);
        expect_name(row, "ps", port_space_name(r.port_space.value()), true);
      }
    }
  }
}

TEST(ParseResources, ReadsADumpInParts) {
  const auto parts = recorded_parts(ResourceTable::qp);
  ASSERT_GE(parts.size(), 2U);
  for (const Message& part : parts) EXPECT_GT(resources(part, ResourceTable::qp).size(), 10U);
}

// siw leaves connected queue pairs in RESET, with their port: that is no error state.
TEST(ParseResources, TakesTheStateThatTheDriverGives) {
  Message message = recorded_parts(ResourceTable::qp).front();
  for_each_attr(message, [&](const Attr& table) {
    for_each_attr(table.data, [&](const Attr& entry) {
      for_each_attr(entry.data, [&](const Attr& attr) {
        if (attr.type == RDMA_NLDEV_ATTR_RES_STATE)
          message[static_cast<std::size_t>(attr.data.data() - message.data())] = std::byte{0};
      });
    });
  });
  for (const Resource& qp : resources(message, ResourceTable::qp)) {
    EXPECT_EQ(qp_state_name(*qp.state), "RESET");
    EXPECT_TRUE(qp.port.has_value() || qp.type.has_value());
  }
}

// The kernel's entries in the table of contexts have nothing in them (nldev.c fill_res_ctx_entry).
TEST(ParseResources, LeavesOutEmptyContexts) {
  const Message recorded = recorded_parts(ResourceTable::ctx).front();
  Message message;
  for_each_attr(recorded, [&](const Attr& attr) {
    if (attr.type != RDMA_NLDEV_ATTR_RES_CTX) return test::append_attr(message, attr.type, attr.data);
    Message table(attr.data.begin(), attr.data.end());
    test::append_attr(table, RDMA_NLDEV_ATTR_RES_CTX_ENTRY, {});
    test::append_attr(message, attr.type, table);
  });
  EXPECT_GT(message.size(), recorded.size());
  EXPECT_EQ(resources(message, ResourceTable::ctx).size(), resources(recorded, ResourceTable::ctx).size());
}

TEST(ParseResources, SeesOnDemandPaging) {
  const Message recorded = recorded_parts(ResourceTable::mr).front();
  for (const Resource& mr : resources(recorded, ResourceTable::mr)) EXPECT_FALSE(mr.on_demand);
  const Message message = test::with_on_demand_paging(recorded);
  EXPECT_EQ(resources(message, ResourceTable::mr).size(), resources(recorded, ResourceTable::mr).size());
  for (const Resource& mr : resources(message, ResourceTable::mr)) EXPECT_TRUE(mr.on_demand);
}

std::map<std::string, std::pair<std::uint64_t, std::optional<std::uint64_t>>> summary(
    const Message& message) {
  std::map<std::string, std::pair<std::uint64_t, std::optional<std::uint64_t>>> counts;
  EXPECT_TRUE(parse_resource_summary(message, [&](const ResourceCount& count) {
                counts.emplace(count.type, std::pair(count.current, count.max));
              }).has_value());
  return counts;
}

TEST(ParseResourceSummary, AgreesWithTheTables) {
  const auto counts = summary(recorded_message("res_get_0.bin"));
  EXPECT_EQ(counts.size(), 7U);
  for (const ResourceTable table :
       {ResourceTable::qp, ResourceTable::mr, ResourceTable::cq, ResourceTable::ctx, ResourceTable::srq}) {
    EXPECT_EQ(counts.at(std::string(to_string(table))).first, shown(table).size()) << to_string(table);
    EXPECT_FALSE(counts.at(std::string(to_string(table))).second.has_value());
  }
  EXPECT_EQ(summary(recorded_message("res_get_1.bin")).at("cm_id").first, shown(ResourceTable::cm_id).size());
}

// Kernels after 7.2 add the device's limit to an entry.
TEST(ParseResourceSummary, ReadsLimits) {
  const auto with_limit = [](Bytes entry) {
    Message changed(entry.begin(), entry.end());
    const std::uint64_t limit = 4096;
    test::append_attr(changed, 118, std::as_bytes(std::span(&limit, 1)));
    return changed;
  };
  const Message message =
      test::with_entries(recorded_message("res_get_0.bin"), with_limit, RDMA_NLDEV_ATTR_RES_SUMMARY);
  for (const auto& [type, count] : summary(message)) EXPECT_EQ(count.second, 4096U) << type;
}

TEST(ResourceParsers, SurviveTruncationAtEveryByte) {
  for (const ResourceTable table : kTables) {
    for (const Message& message : recorded_parts(table)) {
      const std::size_t whole = resources(message, table).size();
      for (std::size_t size = 0; size < message.size(); ++size) {
        const Message cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
        std::size_t seen = 0;
        const auto parsed = parse_resources(cut, table, [&](const Resource&) { ++seen; });
        // All of it but the padding behind the last attribute, or an error, or the table had not begun.
        EXPECT_TRUE(!parsed || seen == 0 || seen == whole) << to_string(table) << " cut at " << size;
      }
    }
  }
  const Message message = recorded_message("res_get_0.bin");
  for (std::size_t size = 0; size < message.size(); ++size) {
    const Message cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
    std::size_t seen = 0;
    const auto parsed = parse_resource_summary(cut, [&](const ResourceCount&) { ++seen; });
    EXPECT_TRUE(!parsed || seen == 0 || seen == 7) << size;
  }
}

TEST(ResourceParsers, SurviveEverySingleByteChanged) {
  for (const ResourceTable table : kTables) {
    for (const Message& original : recorded_parts(table)) {
      for (std::size_t at = 0; at < original.size(); ++at) {
        for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0xffU}) {
          Message message = original;
          message[at] = static_cast<std::byte>(value);
          (void)parse_resources(message, table, [](const Resource& resource) {
            EXPECT_LT(resource.kernel_name.size(), 10'000U);
            EXPECT_FALSE(qp_type_name(resource.type.value_or(0)).empty());
          });
        }
      }
    }
  }
}

TEST(Names, OfNumbersThatAreNotKnownAreOther) {
  for (const std::uint32_t number : {7U, 11U, 200U, 254U, 0xFFFFFFFFU})
    EXPECT_EQ(qp_type_name(number), "other");
  EXPECT_EQ(qp_type_name(255), "DRIVER");
  EXPECT_EQ(qp_type_name(10), "XRC_TGT");
  EXPECT_EQ(qp_state_name(7), "other");
  EXPECT_EQ(cm_id_state_name(11), "other");
  EXPECT_EQ(port_space_name(0), "other");
  EXPECT_EQ(srq_type_name(3), "other");
}

}  // namespace
}  // namespace rdma_exporter::host::nldev
