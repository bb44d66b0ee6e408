// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::probe {
namespace {

std::string line_of(std::size_t digits, const std::string& name = "fleet") {
  return name + ":" + std::string(digits, 'a');
}

TEST(SecretFile, HoldsNamesAndKeysOfSixteenToSixtyFourBytes) {
  const auto secrets = parse_secrets("# old\n" + line_of(32, "old") + "\r\n\n" + line_of(128, "new"));
  ASSERT_TRUE(secrets) << secrets.error().context.text();
  ASSERT_EQ(secrets->size(), 2U);
  EXPECT_EQ((*secrets)[0].identity, "old");
  EXPECT_EQ((*secrets)[0].key, std::vector<unsigned char>(16, 0xaa));
  EXPECT_EQ((*secrets)[1].identity, "new");
  EXPECT_EQ((*secrets)[1].key.size(), 64U);
  for (const std::size_t digits : {0U, 16U, 30U, 31U, 33U, 129U, 130U})
    EXPECT_FALSE(parse_secrets(line_of(digits))) << digits;
  for (const std::string& wrong : {std::string(), std::string("# nothing\n"), ":" + std::string(32, 'a'),
                                   line_of(32, std::string(65, 'n')), "fleet:" + std::string(32, 'g')})
    EXPECT_FALSE(parse_secrets(wrong)) << wrong;
}

TEST(SecretFile, IsNobodyElsesToReadOrWrite) {
  const test::TempTree tree;
  tree.write("psk", line_of(32));
  const std::string path = tree.path("psk");
  for (const mode_t mode : {0604U, 0602U, 0601U, 0666U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_FALSE(read_secrets(path)) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_TRUE(read_secrets(path));
  EXPECT_FALSE(read_secrets(path + ".none"));
}

}  // namespace
}  // namespace rdma_exporter::probe
