// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: no counter is lost, and none is exported twice. With the default configuration, a change of one
// kernel counter changes exactly one series.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "host/topology/driver.h"
#include "tests/contract/page.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::test {
namespace {

namespace fs = std::filesystem;

// Ignored congestion notifications of a port are part of all received ones and a series of their own.
std::size_t series_of(const fs::path& file) {
  const bool ignored = file.filename() == "rp_cnp_ignored" || file.filename() == "cnpIgnored";
  const bool of_port = file.parent_path().parent_path().parent_path().filename() == "ports";
  return ignored && of_port ? 2 : 1;
}

std::vector<fs::path> counter_files(const std::string& root) {
  std::vector<fs::path> files;
  for (const auto& device : fs::directory_iterator(root + "/class/infiniband")) {
    for (const auto& entry : fs::recursive_directory_iterator(device.path())) {
      const std::string folder = entry.path().parent_path().filename();
      if (entry.is_regular_file() && (folder == "counters" || folder == "hw_counters") &&
          entry.path().filename() != "lifespan")
        files.push_back(entry.path());
    }
    break;  // one device of a tree is like the other
  }
  return files;
}

// Adds `delta` to the number in a file, in place.
void add(const fs::path& file, std::int64_t delta) {
  std::int64_t value = 0;
  std::ifstream(file) >> value;
  std::ofstream(file) << value + delta << '\n';
}

std::size_t differences(const std::map<std::string, std::string>& before,
                        const std::map<std::string, std::string>& after) {
  std::size_t differences = before.size() == after.size() ? 0 : 1000;
  for (const auto& [series, value] : before) {
    const auto it = after.find(series);
    if (it == after.end() || it->second != value) ++differences;
  }
  return differences;
}

void expect_each_counter_in_one_series(const std::string& root, const std::string& name) {
  TreeHost host(root);
  auto before = host.page();
  const auto files = counter_files(root);
  EXPECT_GT(files.size(), 5U) << name;
  for (const fs::path& file : files) {
    add(file, 1);
    auto after = host.page();
    EXPECT_EQ(differences(before, after), series_of(file)) << name << ": " << file;
    before = std::move(after);
  }
}

class CountersOnce : public ::testing::TestWithParam<std::string> {};

TEST_P(CountersOnce, OfATree) {
  TempTree copy;
  fs::copy(all_trees().at(GetParam()), copy.path("sys"),
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  expect_each_counter_in_one_series(copy.path("sys"), GetParam());
}

std::vector<std::string> tree_names() {
  std::vector<std::string> names;
  for (const auto& [name, root] : all_trees()) names.push_back(name);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Trees, CountersOnce, ::testing::ValuesIn(tree_names()), test_name);

// Lists of the names that the kernel's sources give, DRIVER_..._{port,device}.txt.
class NamesOnce : public ::testing::TestWithParam<std::string> {};

std::string parent_driver(const std::string& list) {
  if (list.starts_with("bnxt_re")) return "bnxt_en";
  const std::string driver = list.substr(0, list.find('_'));
  const std::map<std::string, std::string> parents{
      {"irdma", "ice"}, {"hns", "hns3"}, {"mlx4", "mlx4_core"}, {"mlx5", "mlx5_core"}};
  return parents.contains(driver) ? parents.at(driver) : driver;
}

TEST_P(NamesOnce, OfAList) {
  TempTree tree;
  const std::string device = "class/infiniband/d";
  const bool of_port = GetParam().ends_with("_port");
  if (GetParam().starts_with("rxe")) {
    tree.write(device + "/parent", "eth0\n");
  } else {
    const std::string parent = parent_driver(GetParam());
    ASSERT_NE(host::driver_from_parent(parent), host::Driver::unknown) << parent;
    tree.link("../drivers/" + parent, device + "/device/driver");
  }
  tree.write(device + "/ports/1/state", "4: ACTIVE\n");
  tree.mkdir(device + "/ports/1/hw_counters");
  std::ifstream list(SOURCE_DIR "/tests/unit/data/hw_names/" + GetParam() + ".txt");
  std::size_t number = 0;
  for (std::string name; std::getline(list, name);)
    if (!name.starts_with('#'))
      tree.write(device + (of_port ? "/ports/1/hw_counters/" : "/hw_counters/") + name,
                 std::to_string(++number) + "\n");
  expect_each_counter_in_one_series(tree.root(), GetParam());
}

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(SOURCE_DIR "/tests/unit/data/hw_names"))
    names.push_back(entry.path().stem().string());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Lists, NamesOnce, ::testing::ValuesIn(list_names()), test_name);

}  // namespace
}  // namespace rdma_exporter::test
