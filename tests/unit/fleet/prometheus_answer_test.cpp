// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Answers in the format of Prometheus 2.42, complete and damaged.
#include "fleet/prometheus_answer.h"

#include <gtest/gtest.h>

namespace rdma_exporter::fleet {
namespace {

constexpr std::string_view kAnswer =
    R"({"status":"success","data":{"resultType":"vector","result":[)"
    R"({"metric":{"__name__":"up","instance":"gpu-1:9400","job":"rdma"},"value":[1700000040,"1"]},)"
    R"({"metric":{"instance":"gpu-2:9400"},"value":[1700000040.5,"+Inf"]},)"
    R"({"metric":{},"value":[1700000040,"NaN"]}]},"warnings":["a store is gone"]})";

TEST(PrometheusAnswer, KeepsTheColumnsInTheirOrder) {
  const Answer answer = parse_answer(kAnswer, {"job", "instance"});
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.rows.size(), 2U);  // NaN is no value
  EXPECT_EQ(answer.rows[0].cells, (std::vector<std::string>{"rdma", "gpu-1:9400"}));
  EXPECT_EQ(answer.rows[0].value, 1);
  EXPECT_EQ(answer.rows[1].cells, (std::vector<std::string>{"", "gpu-2:9400"}));
  EXPECT_EQ(answer.warnings, std::vector<std::string>{"a store is gone"});
}

TEST(PrometheusAnswer, ThatIsCutShortAnywhereIsAnErrorWithoutRows) {
  for (std::size_t length = 0; length < kAnswer.size(); ++length) {
    const Answer answer = parse_answer(kAnswer.substr(0, length), {"job"});
    EXPECT_NE(answer.error, "") << length;
    EXPECT_TRUE(answer.rows.empty()) << length;
  }
}

TEST(PrometheusAnswer, SaysWhatTheServerSays) {
  const Answer answer = parse_answer(R"({"status":"error","errorType":"timeout","error":"too slow"})", {});
  EXPECT_EQ(answer.error, "timeout: too slow");
}

TEST(PrometheusAnswer, OfAnotherKindIsAnError) {
  for (const char* text : {"[]", "{}", "null", R"({"status":"success"})",
                           R"({"status":"success","data":{"resultType":"matrix","result":[]}})"})
    EXPECT_NE(parse_answer(text, {}).error, "") << text;
}

TEST(PrometheusAnswer, ThatIsPartialIsAWarning) {
  const Answer answer =
      parse_answer(R"({"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}})", {});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.warnings.size(), 1U);
}

}  // namespace
}  // namespace rdma_exporter::fleet
