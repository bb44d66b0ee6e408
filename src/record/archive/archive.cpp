// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "record/archive/limits.h"

namespace rdma_exporter::record {
namespace {

struct ReadFree {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct WriteFree {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct EntryFree {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append(archive* /*writer*/, void* out, const void* data, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

void require(int status, archive* writer) {
  if (status == ARCHIVE_OK) return;
  const char* text = archive_error_string(writer);
  throw std::runtime_error(text == nullptr ? "libarchive failed" : text);
}

constexpr auto kDamaged = "is truncated or damaged";

// Words between slashes, none of which leads elsewhere.
bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '/';
  };
  return !name.empty() && name.size() < 64 && name.front() != '/' && name.front() != '.' &&
         name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), is_plain);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes), reader_(archive_read_new()) {}

  core::Result<Members> read() {
    archive* reader = reader_.get();
    if (reader == nullptr || archive_read_support_filter_gzip(reader) != ARCHIVE_OK ||
        archive_read_support_format_tar(reader) != ARCHIVE_OK)
      return core::config_error("cannot be read: libarchive has no tar or no gzip");
    if (archive_read_open_memory(reader, bytes_.data(), bytes_.size()) != ARCHIVE_OK) return not_whole();
    archive_entry* entry = nullptr;
    for (;;) {
      const int status = archive_read_next_header(reader, &entry);
      if (status == ARCHIVE_EOF) break;
      if (status != ARCHIVE_OK) return not_whole();
      if (auto taken = take(entry); !taken) return tl::unexpected(taken.error());
    }
    // libarchive does not look at gzip's checksum: whether members are as they were is for their SHA-256 to
    // say.
    if (members_.empty()) return core::config_error("is no recording: it is empty");
    return std::move(members_);
  }

 private:
  tl::unexpected<core::Error> not_whole() const {
    return core::config_error(bytes_.starts_with("\x1F\x8B") ? kDamaged : "is no tar.gz archive");
  }

  core::Result<void> take(archive_entry* entry) {
    const char* path = archive_entry_pathname(entry);
    const std::string name = path == nullptr ? "" : path;
    if (!is_plain_name(name))
      return core::config_error("holds a member whose name is not one of a recording");
    const bool is_link = archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr;
    if (is_link || archive_entry_filetype(entry) != AE_IFREG)
      return core::config_error("holds a member that is no plain file: " + name);
    if (members_.size() >= limits::kMembers) return core::config_error("holds too many members");
    if (members_.find(name) != members_.end()) return core::config_error("holds a member twice: " + name);
    return read_content(members_[name]);
  }

  // By pieces, as the size that the header states need not be true.
  core::Result<void> read_content(std::string& content) {
    std::array<char, 65'536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the call
    for (;;) {
      const la_ssize_t length = archive_read_data(reader_.get(), piece.data(), piece.size());
      if (length < 0) return core::config_error(kDamaged);
      if (length == 0) return {};
      const auto size = static_cast<std::size_t>(length);
      unpacked_ += size;
      const bool bomb = unpacked_ > limits::kAlwaysAllowed && unpacked_ / limits::kRatio > bytes_.size();
      if (bomb || content.size() + size > limits::kMemberBytes || unpacked_ > limits::kUnpackedBytes)
        return core::config_error("unpacks to more than a recording can be");
      content.append(piece.data(), size);
    }
  }

  std::string_view bytes_;
  std::unique_ptr<archive, ReadFree> reader_;
  Members members_;
  std::size_t unpacked_ = 0;
};

}  // namespace

std::string write_archive(const Members& members, std::int64_t time) {
  const std::unique_ptr<archive, WriteFree> writer(archive_write_new());
  std::string out;
  require(archive_write_set_format_ustar(writer.get()), writer.get());
  require(archive_write_add_filter_gzip(writer.get()), writer.get());
  // Neither the time of packing nor a name: the same members give the same bytes.
  require(archive_write_set_filter_option(writer.get(), "gzip", "timestamp", nullptr), writer.get());
  require(archive_write_set_filter_option(writer.get(), "gzip", "compression-level", "9"), writer.get());
  // No padding behind the compressed data.
  require(archive_write_set_bytes_in_last_block(writer.get(), 1), writer.get());
  require(archive_write_open(writer.get(), &out, nullptr, append, nullptr), writer.get());
  for (const auto& [name, content] : members) {
    const std::unique_ptr<archive_entry, EntryFree> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    archive_entry_set_mtime(entry.get(), time, 0);
    require(archive_write_header(writer.get(), entry.get()), writer.get());
    if (archive_write_data(writer.get(), content.data(), content.size()) !=
        static_cast<la_ssize_t>(content.size()))
      require(ARCHIVE_FATAL, writer.get());
  }
  require(archive_write_close(writer.get()), writer.get());
  return out;
}

core::Result<Members> read_archive(std::string_view bytes) {
  if (bytes.size() > limits::kArchiveBytes) return core::config_error("is larger than a recording can be");
  return Reader(bytes).read();
}

}  // namespace rdma_exporter::record
