// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/client/resolve.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace rdma_exporter::http {
namespace {

int errno_of(int error) {
  switch (error) {
    case EAI_SYSTEM:
      return errno;
    case EAI_AGAIN:
      return EAGAIN;
    case EAI_NONAME:
    case EAI_NODATA:
      return ENOENT;
    case EAI_MEMORY:
      return ENOMEM;
    default:
      return EPROTO;
  }
}

}  // namespace

core::Result<std::vector<std::string>> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;  // else each address comes once for every type
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found); error != 0)
    return core::os_error(errno_of(error), name);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    std::array<char, 128> text{};
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

}  // namespace rdma_exporter::http
