// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: every file or folder of this repository that a document, a comment or a metric's source names
// exists.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace rdma_exporter::test {
namespace {

namespace fs = std::filesystem;

// A path below a folder of the repository, as text names it. What stands for many files (NAME.cpp, *.txt) is
// not matched, nor is a longer path that only ends like one of ours.
const std::regex& cited_path() {
  static const std::regex pattern(
      R"((?:^|[^\w./:~$*{}<-])((?:src|collectors|tests|docs|scripts|cmake|config|deploy|alerts|dashboards|mixin)/[a-z0-9_][\w./-]*\.(?:cpp|h|py|md|sh|yml|txt|cmake|libsonnet|json|in))(?![\w*{]))");
  return pattern;
}

// A folder of the sources, as text names it.
const std::regex& cited_folder() {
  static const std::regex pattern(R"((?:^|[^\w./:~$*{}<-])(src(?:/[a-z_]+)+)(?![\w/.*{-]))");
  return pattern;
}

// The paths that a file names. Lines of #include are the compiler's to check.
std::vector<std::string> cited_in(const fs::path& path) {
  std::vector<std::string> cited;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#include") || line.find('/') == std::string::npos) continue;
    for (const std::regex* pattern : {&cited_path(), &cited_folder()})
      for (std::sregex_iterator it(line.begin(), line.end(), *pattern), end; it != end; ++it)
        cited.push_back((*it)[1]);
  }
  return cited;
}

std::vector<fs::path> documents_and_sources() {
  const fs::path top = SOURCE_DIR;
  std::vector<fs::path> found{top / "README.md", top / "CONTRIBUTING.md"};
  for (const char* folder :
       {"src", "collectors", "docs", "cmake", "tests/unit", "tests/contract", "tests/e2e"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      const std::string extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp" || extension == ".md" || extension == ".cmake" ||
          extension == ".py")
        found.push_back(entry.path());
    }
  }
  return found;
}

// Includes are rooted at src/, so `config/yaml/yaml.cpp` may be src/config/yaml/yaml.cpp.
bool exists(const std::string& cited) {
  const fs::path top = SOURCE_DIR;
  return fs::exists(top / cited) || fs::exists(top / "src" / cited);
}

bool stands_for_many(const std::string& cited) {
  return cited.find("NAME") != std::string::npos || cited.find("DRIVER") != std::string::npos;
}

TEST(CitedFiles, Exist) {
  std::size_t count = 0;
  for (const fs::path& document : documents_and_sources()) {
    for (const std::string& path : cited_in(document)) {
      ++count;
      EXPECT_TRUE(exists(path) || stands_for_many(path))
          << fs::relative(document, SOURCE_DIR) << " names " << path
          << ", which is not there: name the file that took its place";
    }
  }
  EXPECT_GT(count, 100U) << "the pattern no longer finds what the documents and sources name";
}

}  // namespace
}  // namespace rdma_exporter::test
