// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "config/text_check.h"

namespace rdma_exporter::config {
namespace {

core::Result<std::string> unreadable(const std::string& name, const std::string& problem) {
  return core::config_error(name + ": " + problem);
}

}  // namespace

core::Result<std::string> read_file(const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "re"), std::fclose);
  if (!file) return unreadable(name, std::generic_category().message(errno));
  std::string text(kLongestFile + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(name, std::generic_category().message(errno));
  if (text.size() > kLongestFile) return unreadable(name, "longer than 1 MiB");
  return text;
}

}  // namespace rdma_exporter::config
