// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/recorded.h"

#include <gtest/gtest.h>

#include "fleet/analysis.h"

namespace rdma_exporter::fleet {
namespace {

const Plan kQueries{{"down ports", "up == 0", {"instance"}}, {"rails", "count by (device) (x)", {"device"}}};

// The label `query` of the rule for a table, as Prometheus would return it.
std::vector<Row> rows_of_rule(const std::string& name) {
  const std::string text = to_rules(kQueries);
  const std::size_t label = text.find("query: \"", text.find("record: " + name)) + 8;
  return {Row{{name, text.substr(label, text.find('"', label) - label)}, 1}};
}

TEST(RecordedTest, ARuleIsInPlaceOfAllQueriesForItsTable) {
  const Recorded recorded(kQueries, rows_of_rule("fleet:down_ports"));
  EXPECT_TRUE(recorded.any());
  const Plan used = recorded.use({{"down ports", "up{device=\"a\"} == 0", {"instance"}},
                                  {"rails", "count by (device) (x)", {"device"}},
                                  {"down ports", "up{device=\"b\"} == 0", {"instance"}}});
  ASSERT_EQ(used.size(), 2U);
  EXPECT_EQ(used[0].table, "down ports");
  EXPECT_EQ(used[0].expression,
            "fleet:down_ports{query=\"" + rows_of_rule("fleet:down_ports")[0].cells[1] + "\"}");
  EXPECT_EQ(used[0].columns, std::vector<std::string>{"instance"});
  EXPECT_EQ(used[1].expression, "count by (device) (x)") << "is not recorded";
}

TEST(RecordedTest, ARuleWithAnotherExpressionIsIgnored) {
  EXPECT_FALSE(Recorded(kQueries, {Row{{"fleet:down_ports", "0123456789abcdef"}, 1}}).any());
  EXPECT_FALSE(
      Recorded(kQueries, {Row{{"fleet:rails", rows_of_rule("fleet:down_ports")[0].cells[1]}, 1}}).any());
  EXPECT_FALSE(Recorded(kQueries, {}).any());
}

TEST(RecordedTest, ARuleWithoutAResultHasNoRows) {
  Tables tables;
  const Plan plan{{"down ports", "fleet:down_ports", {"instance"}}, {"rails", "x", {"device"}}};
  tables.add(plan[0], {{Row{{""}, 0}, Row{{"a:9400"}, 1}}, {}, {}});
  tables.add(plan[1], {{Row{{""}, 3}}, {}, {}});
  Recorded(kQueries, rows_of_rule("fleet:down_ports")).clean(tables, plan);
  ASSERT_EQ(tables.rows("down ports").size(), 1U);
  EXPECT_EQ(tables.rows("down ports")[0].cells[0], "a:9400");
  EXPECT_EQ(tables.rows("rails").size(), 1U) << "was asked, not recorded";
}

// A limit of the whole fleet would leave a few rows of each rail where load affects all of them, and few rows
// of a rail are taken for faults.
TEST(RecordedTest, EachRailHasItsOwnLimitOfRows) {
  std::size_t limited = 0;
  for (const Query& query : recordable({}))
    if (query.expression.find("topk") != std::string::npos) {
      ++limited;
      EXPECT_TRUE(query.expression.starts_with("topk by (device) (")) << query.expression;
    }
  EXPECT_GT(limited, 8U);
}

TEST(RecordedTest, RulesDependOnSelectorAndUnitLabel) {
  const std::string plain = to_rules(recordable({}));
  Options selected;
  selected.selector = "cluster=\"a\"";
  Options racks;
  racks.unit_label = "rack";
  EXPECT_NE(plain, to_rules(recordable(selected)));
  EXPECT_NE(plain, to_rules(recordable(racks)));
  EXPECT_EQ(plain, to_rules(recordable({})));
}

}  // namespace
}  // namespace rdma_exporter::fleet
