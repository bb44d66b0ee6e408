// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/system/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "host/fs/fd.h"

namespace rdma_exporter::app {
namespace {

std::string_view text_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// The whole number in an environment variable; 0 without one.
std::int64_t number_in(const char* variable) {
  const std::string_view text = text_in(variable);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

bool is_unix_address(std::string_view name) {
  return name.size() > 1 && name.size() < sizeof(sockaddr_un::sun_path) &&
         (name.front() == '/' || name.front() == '@');
}

std::string microseconds_of(std::chrono::steady_clock::time_point time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
}

}  // namespace

ServiceManager::ServiceManager() {
  if (const auto name = text_in("NOTIFY_SOCKET"); is_unix_address(name)) socket_ = name;
}

void ServiceManager::ready(std::string_view status) const { send("READY=1\nSTATUS=" + std::string(status)); }

// Newer versions of systemd take the READY=1 that is later than this time for the end of the reload.
void ServiceManager::reloading() const {
  send("RELOADING=1\nMONOTONIC_USEC=" + microseconds_of(std::chrono::steady_clock::now()));
}

void ServiceManager::stopping() const { send("STOPPING=1\nSTATUS=stopping"); }

void ServiceManager::alive() const { send("WATCHDOG=1"); }

std::optional<std::chrono::microseconds> ServiceManager::watchdog_interval() const {
  const std::int64_t limit = number_in("WATCHDOG_USEC");
  const std::int64_t watched = number_in("WATCHDOG_PID");
  if (socket_.empty() || limit <= 0 || (watched != 0 && watched != ::getpid())) return std::nullopt;
  return std::chrono::microseconds(limit / 2);
}

void ServiceManager::send(std::string_view state) const {
  if (socket_.empty()) return;
  const host::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // in the abstract namespace
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace rdma_exporter::app
