// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/file.h"

#include <utility>

#include "config/text_check.h"
#include "core/text/regular_file.h"

namespace rdma_exporter::config {

core::Result<std::string> read_file(const std::string& name) {
  auto text =
      core::RegularFile::open(name).and_then([](const auto& file) { return file.read(kMaxFileBytes); });
  if (text) return text;
  if (text.error().kind == core::Errc::too_long) return core::config_error(name + ": longer than 1 MiB");
  return core::unreadable(name, text.error());
}

tl::unexpected<core::Error> error_at(std::string_view where, core::Error error) {
  error.context = std::string(where) + ": " + error.context;
  return tl::unexpected(std::move(error));
}

}  // namespace rdma_exporter::config
