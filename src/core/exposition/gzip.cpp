// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/gzip.h"

#include <libdeflate.h>

#include <memory>

namespace rdma_exporter::core {

std::string gzip(std::string_view text, int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (!compressor) return {};
  // A page shrinks to a fifth or less. What does not fit into the quarter is given as much as can be needed.
  const std::size_t longest = libdeflate_gzip_compress_bound(compressor.get(), text.size());
  for (const std::size_t room : {text.size() / 4, longest}) {
    const auto buffer = std::make_unique_for_overwrite<char[]>(room);
    const std::size_t size =
        libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), buffer.get(), room);
    if (size != 0) return {buffer.get(), size};
  }
  return {};
}

}  // namespace rdma_exporter::core
