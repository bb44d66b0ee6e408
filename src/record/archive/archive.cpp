// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/archive.h"

#define ZLIB_CONST  // zlib does not write to its input
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <span>

#include "core/exposition/gzip.h"
#include "record/archive/limits.h"
#include "record/archive/tar.h"

namespace rdma_exporter::record {
namespace {

constexpr auto kDamaged = "is truncated or damaged";

// True for words separated by slashes, none of which leads elsewhere.
bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '/';
  };
  return !name.empty() && name.size() < 64 && name.front() != '/' && name.front() != '.' &&
         name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), is_plain);
}

// Unpacks one gzip member (RFC 1952) piece by piece, so that the caller decides how much to accept. Verifies
// checksum and length in the trailer. Does not read what follows the member.
class Gunzip {
 public:
  /// `packed` must outlive it.
  explicit Gunzip(std::string_view packed) {
    constexpr int kGzipWindow = MAX_WBITS + 16;  // 16: with gzip's header and trailer
    if (packed.size() > std::numeric_limits<uInt>::max() || ::inflateInit2(&stream_, kGzipWindow) != Z_OK)
      throw std::bad_alloc();
    stream_.next_in = reinterpret_cast<const Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  ~Gunzip() { ::inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Fills `piece`; returns less only at the end of the member. Errc::parse: truncated or damaged.
  core::Result<std::size_t> read(std::span<char> piece) {
    stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_out = static_cast<uInt>(piece.size());
    while (stream_.avail_out > 0 && !ended_) {
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      // Z_BUF_ERROR: there is room in the output, so the input ended early.
      if (status != Z_OK && status != Z_STREAM_END) return core::parse_error();
    }
    return piece.size() - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool ended_ = false;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : packed_size_(bytes.size()), gunzip_(bytes) {}

  core::Result<Members> read() {
    std::array<char, tar::kBlock> block{};
    for (;;) {
      if (auto whole = fill(block); !whole) return tl::unexpected(whole.error());
      if (tar::is_end(block)) break;
      const auto header = tar::parse_header(block);
      if (!header) return core::config_error(kDamaged);
      if (auto taken = take(*header); !taken) return tl::unexpected(taken.error());
    }
    if (auto rest = skip_rest(); !rest) return tl::unexpected(rest.error());
    if (members_.empty()) return core::config_error("is not a recording: it is empty");
    return std::move(members_);
  }

 private:
  core::Result<void> take(const tar::Header& header) {
    if (header.kind == tar::Kind::comment) return read_content(header.size, nullptr);
    if (!is_plain_name(header.name))
      return core::config_error("contains a member whose name does not belong in a recording");
    if (header.kind != tar::Kind::file)
      return core::config_error("contains a member that is not a plain file: " + header.name);
    if (members_.size() >= limits::kMembers) return core::config_error("contains too many members");
    if (members_.find(header.name) != members_.end())
      return core::config_error("contains a member twice: " + header.name);
    return read_content(header.size, &members_[header.name]);
  }

  // Reads whole blocks; `content` gets `size` bytes of them. Reads piece by piece, because the size in the
  // header need not be true.
  core::Result<void> read_content(std::uint64_t size, std::string* content) {
    std::array<char, 128 * tar::kBlock> buffer{};
    while (size > 0) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, buffer.size()));
      const std::size_t blocks = (wanted + tar::kBlock - 1) / tar::kBlock;
      if (auto whole = fill(std::span(buffer).first(blocks * tar::kBlock)); !whole) return whole;
      if (content != nullptr) content->append(buffer.data(), wanted);
      if (content != nullptr && content->size() > limits::kMemberBytes) return too_much();
      size -= wanted;
    }
    return {};
  }

  core::Result<void> fill(std::span<char> piece) {
    const auto length = read_piece(piece);
    if (!length) return tl::unexpected(length.error());
    if (*length < piece.size()) return core::config_error(kDamaged);
    return {};
  }

  // Reads to the end, where gzip's checksum is.
  core::Result<void> skip_rest() {
    std::array<char, 128 * tar::kBlock> buffer{};
    for (;;) {
      const auto length = read_piece(buffer);
      if (!length) return tl::unexpected(length.error());
      if (*length < buffer.size()) return {};
    }
  }

  core::Result<std::size_t> read_piece(std::span<char> piece) {
    const auto length = gunzip_.read(piece);
    if (!length) return core::config_error(kDamaged);
    unpacked_ += *length;
    const bool bomb = unpacked_ > limits::kAlwaysAllowed && unpacked_ / limits::kRatio > packed_size_;
    if (bomb || unpacked_ > limits::kUnpackedBytes) return too_much();
    return *length;
  }

  static tl::unexpected<core::Error> too_much() {
    return core::config_error("unpacks to more than a recording can be");
  }

  const std::size_t packed_size_;
  Gunzip gunzip_;
  Members members_;
  std::size_t unpacked_ = 0;
};

}  // namespace

std::string write_archive(const Members& members, std::int64_t time) {
  std::string archive;
  for (const auto& [name, content] : members) tar::append_file(archive, name, content, time);
  tar::append_end(archive);
  std::string packed = core::gzip(archive, core::kSmallest);
  if (packed.empty()) throw std::bad_alloc();
  return packed;
}

core::Result<Members> read_archive(std::string_view bytes) {
  if (bytes.size() > limits::kArchiveBytes) return core::config_error("is larger than a recording can be");
  if (!bytes.starts_with("\x1F\x8B"))
    return core::config_error("is not a .tar.gz archive made by rdma_exporter capture");
  return Reader(bytes).read();
}

}  // namespace rdma_exporter::record
