// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/contract/source_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rdma_exporter::test {
namespace {

// The number of bytes of the comment or literal at the start of `text`, 0 if there is none.
std::size_t not_code(std::string_view text) {
  const auto until = [&](std::string_view end, std::size_t from) {
    const std::size_t at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  if (text.starts_with("//")) return std::min(text.find('\n'), text.size());
  if (text.starts_with("/*")) return until("*/", 2);
  if (text.starts_with("R\"")) {
    const std::string mark(text.substr(2, text.find('(') - 2));
    return until(")" + mark + "\"", 2);
  }
  if (!text.starts_with('"') && !text.starts_with('\'')) return 0;
  std::size_t end = 1;
  while (end < text.size() && text[end] != text[0]) end += text[end] == '\\' ? 2U : 1U;
  return std::min(end + 1, text.size());
}

}  // namespace

std::string code_only(std::string_view text) {
  std::string code;
  while (!text.empty()) {
    // 10'000: a separator, no character.
    const bool separator =
        text.front() == '\'' && !code.empty() && std::isalnum(static_cast<unsigned char>(code.back())) != 0;
    const std::size_t length = separator ? 0 : not_code(text);
    for (const char c : text.substr(0, length)) code += c == '\n' ? '\n' : ' ';
    if (length == 0) code += text.front();
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return code;
}

std::map<std::string, std::string> source_files() {
  std::map<std::string, std::string> files;
  const std::filesystem::path top = SOURCE_DIR;
  for (const char* folder : {"src", "collectors"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".in") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[std::filesystem::relative(entry.path(), top)] = {std::istreambuf_iterator<char>(file),
                                                             std::istreambuf_iterator<char>()};
    }
  }
  EXPECT_GT(files.size(), 100U);
  return files;
}

}  // namespace rdma_exporter::test
