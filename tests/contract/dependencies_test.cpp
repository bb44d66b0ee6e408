// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: folders depend on each other in one direction only, and each external library is used only where
// it belongs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include "tests/contract/source_files.h"

namespace rdma_exporter::test {
namespace {

using Names = std::set<std::string>;

// Folder -> other folders that it may include. app knows all.
const std::map<std::string, Names> kAllowed{
    {"core", {}},
    {"asio", {}},
    {"portable", {}},
    {"log", {}},
    {"task", {"core", "log", "asio"}},
    {"host", {"core"}},
    {"config", {"core", "log"}},
    {"facts", {"core", "host"}},
    {"doctor", {"core", "host", "facts"}},
    {"record", {"core", "host"}},
    {"collectors", {"core", "host", "log", "task", "facts", "doctor"}},
    {"scrape", {"core", "log", "asio", "task"}},
    {"http", {"core", "log", "asio", "config"}},
    {"web", {"core", "log", "asio", "task", "config", "http"}},
    {"discovery", {"core", "log", "http"}},
    {"probe", {"core", "asio", "log", "task", "discovery", "http"}},
    {"fleet", {"core"}},
    {"app",
     {"core", "asio", "log", "task", "host", "config", "facts", "doctor", "record", "collectors", "scrape",
      "http", "web", "discovery", "probe"}},
    {"commands",
     {"core", "asio", "log", "task", "host", "config", "facts", "doctor", "record", "collectors", "scrape",
      "web", "discovery", "probe", "http", "fleet", "app"}},
    {"library", {"core", "asio", "log", "config", "web", "app"}},
    {"main.cpp", {"app", "commands"}},
};

// Start of an include -> files and folders that may have it.
struct Outside {
  const char* start;
  Names places;
};
const std::vector<Outside> kOutside{
    {"<boost/", {"src/asio", "src/http", "src/web", "src/scrape", "src/probe"}},
    {"<yaml-cpp/", {"src/config/yaml/yaml.cpp"}},
    {"<netlink/", {"src/host/netlink/netlink.cpp"}},
    {"<infiniband/",
     {"src/host/verbs/verbs.cpp", "src/portable/ibverbs_loader.cpp", "src/probe/rdma/cm/verbs_cm.cpp",
      "src/probe/rdma/verbs/cq.cpp", "src/probe/rdma/verbs/device.cpp", "src/probe/rdma/verbs/qp.cpp"}},
    {"<rdma/", {"src/host", "src/probe/rdma/cm/verbs_cm.cpp"}},
    {"<linux/", {"src/host"}},
    {"<spdlog/", {"src/log"}},
    {"<CLI/", {"src/config/flags/flags.cpp"}},
    {"<prometheus/", {"src/library"}},
    {"<openssl/",
     {"src/http", "src/web", "src/probe", "src/asio/ssl.cpp", "src/commands/probe/keygen.cpp",
      "src/record/archive/recording.cpp"}},
    {"<protozero/", {"src/core/exposition/protobuf_format.cpp", "src/library/families.cpp"}},
    {"<re2/", {"src/core/text/pattern.cpp"}},
    {"<libdeflate.h", {"src/core/exposition/gzip.cpp"}},
    {"<zlib.h", {"src/record/archive/archive.cpp"}},
};

std::string folder_of(const std::string& path) {
  const std::string below = path.starts_with("src/") ? path.substr(4) : path;
  return below.substr(0, below.find('/'));
}

std::vector<std::string> includes(const std::string& text) {
  static const std::regex kInclude(R"(#\s*include\s*(["<][^">]+))");
  std::vector<std::string> all;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), kInclude); it != std::sregex_iterator(); ++it)
    all.push_back((*it)[1]);
  return all;
}

TEST(Dependencies, RunInOneDirection) {
  std::size_t seen = 0;
  for (const auto& [path, text] : source_files()) {
    const std::string folder = folder_of(path);
    ASSERT_TRUE(kAllowed.contains(folder)) << path << ": say above what " << folder << " may include";
    for (const std::string& include : includes(text)) {
      if (!include.starts_with('"')) continue;
      const std::string other = include.substr(1, include.find('/') - 1);
      EXPECT_TRUE(other == folder || kAllowed.at(folder).contains(other)) << path << " includes " << include;
      ++seen;
    }
  }
  EXPECT_GT(seen, 200U);
}

TEST(Dependencies, HaveNoCycleBetweenFolders) {
  std::map<std::string, Names> left = kAllowed;
  for (bool removed = true; removed;) {
    removed = false;
    for (auto it = left.begin(); it != left.end();) {
      const bool leaf = it->second.empty();
      const std::string name = it->first;
      if (leaf) {
        it = left.erase(it);
        for (auto& [other, needs] : left) needs.erase(name);
        removed = true;
      } else {
        ++it;
      }
    }
  }
  EXPECT_TRUE(left.empty()) << left.begin()->first;
}

TEST(Dependencies, OfOutsideAreSeenWhereTheyBelong) {
  for (const auto& [path, text] : source_files()) {
    for (const std::string& include : includes(text)) {
      for (const Outside& outside : kOutside) {
        if (!include.starts_with(outside.start)) continue;
        const bool allowed = std::any_of(outside.places.begin(), outside.places.end(),
                                         [&path = path](const std::string& place) {
                                           return path == place || path.starts_with(place + "/");
                                         });
        EXPECT_TRUE(allowed) << path << " includes " << include;
      }
    }
  }
}

}  // namespace
}  // namespace rdma_exporter::test
