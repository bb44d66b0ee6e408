// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Archives as strangers may send them.
#include "record/archive/archive.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/exposition/gzip.h"
#include "record/archive/limits.h"
#include "record/archive/tar.h"

namespace rdma_exporter::record {
namespace {

constexpr std::size_t kChecksum = 148, kType = 156;

// The sum of the header's bytes grows as the type does.
void set_type(std::string& archive, std::size_t header, char type) {
  const unsigned sum = static_cast<unsigned>(std::stoul(archive.substr(header + kChecksum, 7), nullptr, 8)) +
                       static_cast<unsigned>(type) - '0';
  archive.replace(header + kChecksum, 7, fmt::format("{:07o}", sum));
  archive[header + kType] = type;
}

std::string problem(std::string_view bytes) {
  const auto members = read_archive(bytes);
  return members ? "accepted" : members.error().context.text();
}

// An archive of one entry for each name, all with the same type and content. Headers are of
// tar::append_file(), with another type; tests/e2e/test_capture.py has archives that other programs made.
std::string crafted(const std::vector<std::string>& names, const std::string& content = "", char type = '0') {
  std::string archive;
  for (const std::string& name : names) {
    const std::size_t start = archive.size();
    tar::append_file(archive, name, content, 0);
    set_type(archive, start, type);
  }
  tar::append_end(archive);
  return core::gzip(archive);
}

const Members kMembers{{"manifest.json", "{}"}, {"snapshots/0000", std::string(300'000, 'x')}};

TEST(RecordArchive, GivesBackItsMembers) {
  const auto members = read_archive(write_archive(kMembers, 1'700'000'000));
  ASSERT_TRUE(members) << members.error().context.text();
  EXPECT_EQ(*members, kMembers);
}

TEST(RecordArchive, IsTheSameBytesForTheSameMembers) {
  EXPECT_EQ(write_archive(kMembers, 1'700'000'000), write_archive(kMembers, 1'700'000'000));
}

TEST(RecordArchive, RefusesOneThatIsCutAnywhere) {
  const std::string whole =
      write_archive({{"manifest.json", "{\"a\": 1}"}, {"snapshots/0000", "q\t=\t1\n"}}, 0);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(problem(std::string_view(whole).substr(0, size)), "accepted") << size;
  EXPECT_EQ(problem(whole.substr(0, whole.size() / 2)), "is truncated or damaged");
}

TEST(RecordArchive, RefusesOneWithChangedBits) {
  const Members members{{"manifest.json", "{\"a\": 1}"}, {"snapshots/0000", "q\t=\t1\n"}};
  const std::string whole = write_archive(members, 0);
  for (std::size_t at = 10; at < whole.size(); ++at) {  // behind gzip's header
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    // A run of zeros that is copied from another place is the same run.
    if (const auto read = read_archive(changed)) {
      EXPECT_EQ(*read, members) << at;
    }
  }
  std::string middle = whole;
  middle[whole.size() / 4] = static_cast<char>(middle[whole.size() / 4] ^ 0x10);
  EXPECT_EQ(problem(middle), "is truncated or damaged");
}

TEST(RecordArchive, RefusesWhatIsNoArchive) {
  EXPECT_EQ(problem("hello"), "is not a .tar.gz archive made by rdma_exporter capture");
  EXPECT_EQ(problem(std::string(100'000, 'x')), "is not a .tar.gz archive made by rdma_exporter capture");
  EXPECT_NE(problem(""), "accepted");
  EXPECT_EQ(problem(core::gzip("hello")), "is truncated or damaged");
  EXPECT_EQ(problem(crafted({})), "is not a recording: it is empty");
}

TEST(RecordArchive, RefusesNamesThatLeadElsewhere) {
  for (const char* name : {"../evil", "/etc/passwd", "snapshots/../../evil", "./manifest.json", "a\\b",
                           "con:", "snapshots/..", "Manifest", "a b"})
    EXPECT_EQ(problem(crafted({name}, "x")), "contains a member whose name does not belong in a recording")
        << name;
}

TEST(RecordArchive, RefusesWhatIsNoPlainFile) {
  // Hard link, symbolic link, character device, block device, directory, FIFO, GNU tar's long name and sparse
  // file.
  for (const char type : {'1', '2', '3', '4', '5', '6', 'L', 'S'})
    EXPECT_EQ(problem(crafted({"manifest.json"}, "", type)),
              "contains a member that is not a plain file: manifest.json")
        << type;
}

TEST(RecordArchive, PassesOverWhatPaxSaysOfAMember) {
  std::string archive;
  tar::append_file(archive, "paxheaders/manifest.json", "30 mtime=1700000000.123456789\n", 0);
  set_type(archive, 0, 'x');
  tar::append_file(archive, "manifest.json", "{}", 0);
  tar::append_end(archive);
  EXPECT_EQ(*read_archive(core::gzip(archive)), (Members{{"manifest.json", "{}"}}));
}

TEST(RecordArchive, RefusesTheSameNameTwice) {
  EXPECT_EQ(problem(crafted({"manifest.json", "manifest.json"}, "x")),
            "contains a member twice: manifest.json");
}

TEST(RecordArchive, RefusesAMemberThatIsShorterThanItsHeaderSays) {
  std::string archive;
  tar::append_file(archive, "manifest.json", std::string(1000, 'x'), 0);
  EXPECT_EQ(problem(core::gzip(archive.substr(0, 1024))), "is truncated or damaged");
}

TEST(RecordArchive, RefusesOneWithoutAnEnd) {
  std::string archive;
  tar::append_file(archive, "manifest.json", "{}", 0);
  EXPECT_EQ(problem(core::gzip(archive)), "is truncated or damaged");
}

TEST(RecordArchive, RefusesAWrongChecksumBehindTheLastMember) {
  std::string whole = write_archive(kMembers, 0);
  whole[whole.size() - 8] = static_cast<char>(whole[whole.size() - 8] ^ 1);
  EXPECT_EQ(problem(whole), "is truncated or damaged");
}

TEST(RecordArchive, RefusesBombs) {
  const auto kTooMuch = "unpacks to more than a recording can be";
  const std::string zeros(8UL << 20U, '\0');
  EXPECT_EQ(problem(crafted({"manifest.json"}, zeros)), kTooMuch);
  EXPECT_EQ(problem(crafted({"paxheaders"}, zeros, 'x')), kTooMuch);
  std::string padded;
  tar::append_file(padded, "manifest.json", "{}", 0);
  EXPECT_EQ(problem(core::gzip(padded + zeros)), kTooMuch);
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= limits::kMembers; ++i) many.push_back("snapshots/" + std::to_string(i));
  EXPECT_EQ(problem(crafted(many)), "contains too many members");
}

TEST(RecordArchive, ThrowsForWhatTarCannotHold) {
  EXPECT_THROW(write_archive({{std::string(100, 'x'), ""}}, 0), std::length_error);
  EXPECT_THROW(write_archive({{"x", ""}}, -1), std::length_error);
}

}  // namespace
}  // namespace rdma_exporter::record
