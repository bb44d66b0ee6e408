// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Archives as a stranger may send them, made with the same library.
#include "record/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "record/archive/limits.h"

namespace rdma_exporter::record {
namespace {

std::string problem(std::string_view bytes) {
  const auto members = read_archive(bytes);
  return members ? "accepted" : members.error().context;
}

// A tar archive of one entry for each function, which prepares it.
std::string crafted(const std::vector<std::function<void(archive_entry*)>>& entries,
                    const std::string& content = "") {
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  archive_write_add_filter_gzip(writer);
  std::string out(16UL << 20U, '\0');
  std::size_t used = 0;
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  for (const auto& prepare : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    prepare(entry);
    archive_write_header(writer, entry);
    if (archive_entry_size(entry) > 0) archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

std::function<void(archive_entry*)> named(const std::string& name) {
  return [name](archive_entry* entry) { archive_entry_set_pathname(entry, name.c_str()); };
}

const Members kMembers{{"manifest.json", "{}"}, {"snapshots/0000", std::string(300'000, 'x')}};

TEST(RecordArchive, GivesBackItsMembers) {
  const auto members = read_archive(write_archive(kMembers, 1'700'000'000));
  ASSERT_TRUE(members) << members.error().context;
  EXPECT_EQ(*members, kMembers);
}

TEST(RecordArchive, IsTheSameBytesForTheSameMembers) {
  EXPECT_EQ(write_archive(kMembers, 1'700'000'000), write_archive(kMembers, 1'700'000'000));
}

TEST(RecordArchive, RefusesOneThatIsCutAnywhere) {
  const std::string whole =
      write_archive({{"manifest.json", "{\"a\": 1}"}, {"snapshots/0000", "q\t=\t1\n"}}, 0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto members = read_archive(std::string_view(whole).substr(0, size));
    // Only the padding of tar may be missing: then every member is whole.
    if (members.has_value()) {
      EXPECT_EQ(members->size(), 2U) << size;
    }
  }
  EXPECT_EQ(problem(whole.substr(0, whole.size() / 2)), "is truncated or damaged");
}

TEST(RecordArchive, RefusesOneWithChangedBits) {
  const std::string whole =
      write_archive({{"manifest.json", "{\"a\": 1}"}, {"snapshots/0000", "q\t=\t1\n"}}, 0);
  std::size_t refused = 0;
  for (std::size_t at = 10; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    if (!read_archive(changed).has_value()) ++refused;
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST(RecordArchive, RefusesWhatIsNoArchive) {
  EXPECT_EQ(problem("hello"), "is no tar.gz archive");
  EXPECT_EQ(problem(std::string(100'000, 'x')), "is no tar.gz archive");
  EXPECT_NE(problem(""), "accepted");
  EXPECT_EQ(problem(crafted({})), "is no recording: it is empty");
}

TEST(RecordArchive, RefusesNamesThatLeadElsewhere) {
  for (const char* name : {"../evil", "/etc/passwd", "snapshots/../../evil", "./manifest.json", "a\\b",
                           "con:", "snapshots/..", "Manifest", "a b"})
    EXPECT_EQ(problem(crafted({named(name)}, "x")), "holds a member whose name is not one of a recording")
        << name;
}

TEST(RecordArchive, RefusesWhatIsNoPlainFile) {
  const std::vector<std::function<void(archive_entry*)>> kinds{
      [](archive_entry* entry) {
        archive_entry_set_symlink(entry, "/etc/passwd"), archive_entry_set_filetype(entry, AE_IFLNK);
      },
      [](archive_entry* entry) { archive_entry_set_hardlink(entry, "snapshots/0000"); },
      [](archive_entry* entry) { archive_entry_set_filetype(entry, AE_IFDIR); },
      [](archive_entry* entry) { archive_entry_set_filetype(entry, AE_IFIFO); },
      [](archive_entry* entry) { archive_entry_set_filetype(entry, AE_IFCHR); }};
  for (const auto& kind : kinds) {
    const std::string archive = crafted({[&](archive_entry* entry) {
      archive_entry_set_pathname(entry, "manifest.json");
      archive_entry_set_size(entry, 0);
      kind(entry);
    }});
    EXPECT_NE(problem(archive).find("holds a member"), std::string::npos) << problem(archive);
  }
}

TEST(RecordArchive, RefusesTheSameNameTwice) {
  EXPECT_EQ(problem(crafted({named("manifest.json"), named("manifest.json")}, "x")),
            "holds a member twice: manifest.json");
}

TEST(RecordArchive, RefusesBombs) {
  EXPECT_EQ(problem(crafted({named("manifest.json")}, std::string(8UL << 20U, '\0'))),
            "unpacks to more than a recording can be");
  std::vector<std::function<void(archive_entry*)>> many;
  for (std::size_t i = 0; i <= limits::kMembers; ++i) many.push_back(named("snapshots/" + std::to_string(i)));
  EXPECT_EQ(problem(crafted(many)), "holds too many members");
}

}  // namespace
}  // namespace rdma_exporter::record
