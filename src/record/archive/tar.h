// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Headers of tar archives in the format POSIX.1-1988 "ustar". Every tar reads it, and writes it for names and
// sizes like ours (pax and GNU archives have blocks of other types).
namespace rdma_exporter::record::tar {

/// Block size. An archive consists of blocks: a header, a member's content padded with zeros, and two blocks
/// of zeros at the end.
inline constexpr std::size_t kBlock = 512;
/// The largest size that 11 octal digits can express.
inline constexpr std::uint64_t kMaxSize = 0'777'7777'7777;

enum class Kind : std::uint8_t {
  file,
  comment,  ///< a pax header: attributes of the next member, or of all that follow
  other,    ///< a link, a directory, a device, ...
};

struct Header {
  std::string name;
  std::uint64_t size = 0;  ///< of the content, in bytes
  Kind kind = Kind::file;
};

/// nullopt if the block is not a header or its checksum is wrong.
std::optional<Header> parse_header(std::span<const char, kBlock> block);

/// Whether this is one of the two blocks at the end.
bool is_end(std::span<const char, kBlock> block);

/// Appends a plain file (mode 0644, owner 0) to an archive. `time` is in seconds since 1970; `name` has at
/// most 99 bytes. Throws std::length_error for values that do not fit into a header.
void append_file(std::string& archive, std::string_view name, std::string_view content, std::int64_t time);
void append_end(std::string& archive);

}  // namespace rdma_exporter::record::tar
