// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: docs/DOCTOR.md ends with the program's table of checks. scripts/regenerate updates it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "doctor/check.h"

namespace rdma_exporter::doctor {
namespace {

constexpr const char* kDocument = SOURCE_DIR "/docs/DOCTOR.md";
constexpr std::string_view kHeading = "\n## Checks\n\n";

std::string read_document() {
  std::ifstream file(kDocument, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(DoctorDocument, EndsWithTheTableOfChecks) {
  std::string text = read_document();
  const std::size_t heading = text.find(kHeading);
  ASSERT_NE(heading, std::string::npos);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    text.resize(heading + kHeading.size());
    text += checks_markdown();
    std::ofstream(kDocument, std::ios::binary) << text;
  }
  EXPECT_EQ(text.substr(heading + kHeading.size()), checks_markdown()) << "run scripts/regenerate";
}

TEST(DoctorDocument, HasATableOfWholeRows) {
  std::set<std::string_view> ids;
  for (const Check* check : all_checks()) {
    EXPECT_TRUE(ids.insert(check->id).second) << "twice: " << check->id;
    EXPECT_EQ(check->id.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos)
        << check->id;
    // A bar would begin another cell; text and report end the sentence themselves.
    for (const std::string_view text : {check->title, check->means, check->advice, check->source}) {
      EXPECT_FALSE(text.empty()) << check->id;
      EXPECT_EQ(text.find('|'), std::string_view::npos) << check->id;
      EXPECT_FALSE(text.ends_with('.')) << check->id;
    }
  }
}

}  // namespace
}  // namespace rdma_exporter::doctor
