// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: the daemon is read-only. It starts no other program, and writes only to its standard streams and
// sockets and, if configured, to a text file and to a new key file, each in one source file.
#include <gtest/gtest.h>

#include <re2/re2.h>

#include <string>

#include "tests/contract/source_files.h"

namespace rdma_exporter::test {
namespace {

// What is forbidden in `text`, empty if nothing is.
std::string forbidden(std::string_view text) {
  // In one expression, which RE2 looks for in one pass.
  static const RE2 kRules(
      // another program
      R"((\b(?:popen|system|v?fork|clone3?|posix_spawnp?|exec[lv]p?e?|execvpe|fexecve|execveat)\s*\()"
      // writing to files, or changing the tree
      R"(|\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b)"
      R"(|\b(?:std::)?(?:ofstream|fstream|basic_ofstream|basic_filebuf)\b(?:[^>]|$))"
      R"(|\b(?:creat|pwritev?2?|writev|ftruncate|unlink(?:at)?|rename(?:at2?)?|mkdir(?:at)?|rmdir|mknod(?:at)?|symlink(?:at)?|link(?:at)?|f?ch(?:mod|own)(?:at)?|mount|umount2?|setxattr)\s*\()"
      R"(|(?:^|[^\w:.>])::(?:write|truncate)\s*\()"
      R"(|\bfreopen\s*\())");
  std::string match;
  if (RE2::PartialMatch(code_only(text), kRules, &match)) return match;
  // The mode of fopen is in a literal, which code_only() blanks: the call has to be the reading one.
  static const RE2 kOpen(R"((\bfopen\s*\([^;]*\)))");
  re2::StringPiece rest(text.data(), text.size());
  while (RE2::FindAndConsume(&rest, kOpen, &match))
    if (match.find("\"re\"") == std::string::npos && match.find("\"r\"") == std::string::npos) return match;
  return {};
}

// Without what stands there as often as it should.
std::string without(const RE2& allowed, std::string text) {
  RE2::GlobalReplace(&text, allowed, "(");
  return text;
}

constexpr std::string_view kTextfile = "src/app/textfile.cpp";
// Removes the unix socket that this process made, or that a dead one left, and nothing else.
constexpr std::string_view kUnixSocket = "src/http/listen/unix_socket.cpp";

// Talks to the kernel's connection manager, whose commands are written to its device, and opens nothing else.
constexpr std::string_view kConnectionManager = "src/probe/rdma/cm/verbs_cm.cpp";

// `probe keygen` makes the file that it was told to, and never touches one that is there.
constexpr std::string_view kKeygen = "src/commands/probe/keygen.cpp";

TEST(ReadOnly, HoldsForEverySourceButFour) {
  for (const auto& [path, text] : source_files()) {
    if (path == kKeygen) {
      const RE2 new_file(R"(O_WRONLY \| O_CREAT \| O_EXCL|::write\(fd, |::unlink\(path\.c_str)");
      EXPECT_EQ(forbidden(without(new_file, text)), "");
    } else if (path == kConnectionManager) {
      EXPECT_NE(text.find("kNode = \"/dev/infiniband/rdma_cm\""), std::string::npos);
      const RE2 commands(R"(::open\(kNode, O_RDWR|::write\(fd_, )");
      EXPECT_EQ(forbidden(without(commands, text)), "");
    } else if (path == kUnixSocket) {
      EXPECT_EQ(forbidden(text), "unlink(");
      EXPECT_EQ(forbidden(without(R"(::unlink\()", text)), "");
    } else {
      EXPECT_EQ(forbidden(text).empty(), path != kTextfile) << path << ": " << forbidden(text);
    }
  }
}

TEST(ReadOnly, IsCheckedByRulesThatBite) {
  for (const char* bad :
       {"std::system(\"ls\");", "popen(\"rdma\", \"r\")", "if (fork() == 0)", "::execve(path, a, b);",
        "open(path, O_RDWR | O_CLOEXEC)", "open(p, O_CREAT)", "std::ofstream(path) << 1;",
        "std::fstream f(path);", "::unlink(path)", "::write(fd, data, n)", "::truncate(path, 0)",
        "rename (a, b)", "std::fopen(name, \"w\")", "mkdir(path, 0700)"})
    EXPECT_NE(forbidden(bad), "") << bad;
  for (const char* good :
       {"std::io_context::executor executor(io);", "// system(\"x\")", "\"fork()\"",
        "deadline.expires_after(x)", "#include <fstream>", "std::fopen(name, \"re\")",
        "stream_.async_write_some(buffers)", "R\"(system(1))\"", "const int limit = 10'000; /* O_RDWR */",
        "timer.link_name(path)", "void SampleBatch::truncate(std::size_t n)"})
    EXPECT_EQ(forbidden(good), "") << good;
}

}  // namespace
}  // namespace rdma_exporter::test
