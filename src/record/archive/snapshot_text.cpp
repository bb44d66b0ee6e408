// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/snapshot_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text/escape.h"
#include "record/question.h"

namespace rdma_exporter::record {
namespace {

// A kernel structure is not text, even if it happens to be UTF-8.
bool is_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  std::string repaired;
  core::append_utf8(repaired, text);
  return repaired == text;
}

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\\' && c != 0x7F; }

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out.append("\\x").append(to_hex(std::string_view(&c, 1)));
    }
  }
}

bool unescape(std::string_view field, std::string& text) {
  text.clear();
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      text += field[i];
      continue;
    }
    const char kind = ++i < field.size() ? field[i] : '\0';
    if (kind == 'n' || kind == 't' || kind == '\\') {
      text += kind == 'n' ? '\n' : kind == 't' ? '\t' : '\\';
      continue;
    }
    std::string byte;
    if (kind != 'x' || i + 2 >= field.size() || !from_hex(field.substr(i + 1, 2), byte)) return false;
    text += byte;
    i += 2;
  }
  return true;
}

void append_line(std::string& out, const std::string& question, const Answer& answer) {
  append_escaped(out, question);
  const bool failed = !answer.error.empty();
  const bool as_text = !failed && std::all_of(answer.parts.begin(), answer.parts.end(), is_text);
  out += failed ? "\t!\t" + answer.error : as_text ? "\t=" : "\t#";
  for (const std::string& part : answer.parts) {
    out += '\t';
    if (as_text) {
      append_escaped(out, part);
    } else {
      out += to_hex(part);
    }
  }
  out += '\n';
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t start = 0;;) {
    const std::size_t tab = line.find('\t', start);
    fields.push_back(line.substr(start, tab - start));
    if (tab == std::string_view::npos) return fields;
    start = tab + 1;
  }
}

// Reads the parts from field `first` on.
bool read_parts(const std::vector<std::string_view>& fields, std::size_t first, bool as_text,
                std::vector<std::string>& parts) {
  for (std::size_t i = first; i < fields.size(); ++i) {
    std::string part;
    if (!(as_text ? unescape(fields[i], part) : from_hex(fields[i], part))) return false;
    parts.push_back(std::move(part));
  }
  return true;
}

bool read_answer(const std::vector<std::string_view>& fields, std::optional<Answer>& answer) {
  const std::string_view outcome = fields[1];
  if (outcome == "-") return fields.size() == 2;
  answer.emplace();
  if (outcome == "=" || outcome == "#") return read_parts(fields, 2, outcome == "=", answer->parts);
  if (outcome != "!" || fields.size() < 3 || fields[2].empty()) return false;
  answer->error = fields[2];
  return read_parts(fields, 3, false, answer->parts);
}

}  // namespace

std::string write_difference(const Snapshot& before, const Snapshot& after) {
  std::string text;
  for (const auto& [question, answer] : before) {
    if (after.find(question) != after.end()) continue;
    append_escaped(text, question);
    text += "\t-\n";
  }
  for (const auto& [question, answer] : after) {
    const auto old = before.find(question);
    if (old == before.end() || old->second != answer) append_line(text, question, answer);
  }
  return text;
}

core::Result<void> read_difference(
    std::string_view text, const std::function<void(std::string question, std::optional<Answer>)>& on_line) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const auto fields = fields_of(text.substr(0, end));
    std::string question;
    std::optional<Answer> answer;
    const bool good = end != std::string_view::npos && fields.size() >= 2 && unescape(fields[0], question) &&
                      !question.empty() && read_answer(fields, answer);
    if (!good) return core::parse_error("line " + std::to_string(number));
    on_line(std::move(question), std::move(answer));
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace rdma_exporter::record
