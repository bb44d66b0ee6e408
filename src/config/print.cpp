// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/print.h"

#include <algorithm>
#include <array>

#include "config/duration.h"
#include "config/flags/option_table.h"

namespace rdma_exporter::config {
namespace {

/// The part of the table below a common prefix; a leaf has the values of one option.
struct Branch {
  std::string word;
  std::vector<Branch> below;
  const Option* option = nullptr;
};

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-';
}

/// True if every YAML reader takes the value as text, including YAML 1.1 readers, for which `on` is a
/// boolean.
bool is_plain(const std::string& value) {
  constexpr std::array<std::string_view, 9> kReserved{"null", "true", "false", "yes", "no",
                                                      "on",   "off",  "y",     "n"};
  if (parse_duration(value)) return true;
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_word_char)) return false;
  const char first = value.front();
  if (first != '/' && !(first >= 'a' && first <= 'z')) return false;
  return std::find(kReserved.begin(), kReserved.end(), value) == kReserved.end();
}

std::string scalar(const Option& option, const std::string& value) {
  if (option.literal || is_plain(value)) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text += '"';
}

void insert(Branch& root, const Option& option) {
  Branch* branch = &root;
  for (std::size_t start = 0; start <= option.key.size();) {
    const std::size_t end = std::min(option.key.find('.', start), option.key.size());
    const std::string word = option.key.substr(start, end - start);
    auto next = std::find_if(branch->below.begin(), branch->below.end(),
                             [&](const Branch& b) { return b.word == word; });
    if (next == branch->below.end()) next = branch->below.insert(next, Branch{word, {}, nullptr});
    branch = &*next;
    start = end + 1;
  }
  branch->option = &option;
}

void write(const Branch& branch, const Config& config, const std::string& indent, std::string& out) {
  out += indent + branch.word + ":";
  if (branch.option == nullptr) {
    out += '\n';
    for (const Branch& child : branch.below) write(child, config, indent + "  ", out);
    return;
  }
  const std::vector<std::string> values = branch.option->values(config);
  if (branch.option->shape != Option::Shape::list) {
    out += " " + scalar(*branch.option, values.front()) + "\n";
    return;
  }
  out += values.empty() ? " []\n" : "\n";
  for (const std::string& value : values) out += indent + "  - " + scalar(*branch.option, value) + "\n";
}

}  // namespace

std::string print(const Config& config) {
  std::vector<CollectorChoice> collectors;
  for (const auto& [name, collector] : config.collectors) collectors.push_back({name, collector.enabled, {}});
  const std::vector<Option> options = option_table(collectors);
  Branch root;
  for (const Option& option : options) insert(root, option);
  std::string out;
  for (const Branch& branch : root.below) write(branch, config, "", out);
  return out;
}

}  // namespace rdma_exporter::config
