// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/sampler/reader.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "collectors/attr_text.h"
#include "collectors/counters/tables/hw_table.h"
#include "collectors/counters/tables/pma_table.h"
#include "core/text/kernel_text.h"
#include "host/fs/attr_dir.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"

namespace rdma_exporter::collectors {

std::chrono::nanoseconds BurstTime::thread_cpu() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void BurstPatience::failed(BurstClock::time_point now) {
  not_before_ = now + wait_;
  wait_ = std::min(2 * wait_, kMaxWait);
}

void BurstReader::read(Cadence cadence, const BurstTime& time) {
  const auto begin = time.now();
  if (!patience_.worth_reading(begin)) return;
  values_.clear();
  const auto found = read_values(values_);
  const auto end = time.now();
  if (!found) {
    source_.fail(core::reason(found.error()));
    return patience_.failed(end);
  }
  patience_.worked();
  if (!*found) return source_.forget();
  source_.take({begin, end}, values_, cadence);
}

namespace {

bool is_roce_only(const core::MetricDesc& family) { return counts_roce_only(family); }

class PortFiles final : public BurstReader {
 public:
  PortFiles(host::Host& host, const host::Device& device, std::uint32_t port)
      : BurstReader("counters", burst_table(pma_rows(device.driver))),
        dir_(*host.sysfs, device.port_path(port) + "/counters", host.open_files) {}

 private:
  core::Result<bool> read_values(std::vector<std::uint64_t>& values) override {
    const auto changed = dir_.refresh();
    if (!changed && !means_absent(changed.error())) return tl::unexpected(changed.error());
    if (!changed || *changed) select();
    for (std::size_t i = 0; i < files_.size();) {
      const auto value = read_one(files_[i].first);
      if (!value) return tl::unexpected(value.error());
      if (*value) {
        values.push_back(**value);
        ++i;
      } else {
        // It is listed, and its driver does not have it.
        files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(i));
        announce();
      }
    }
    return !files_.empty();
  }

  core::Result<std::optional<std::uint64_t>> read_one(std::size_t file) {
    std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    const auto text = dir_.read(file, buffer);
    if (text) return core::parse_counter(*text);
    if (means_absent(text.error())) return std::nullopt;
    return tl::unexpected(text.error());
  }

  void select() {
    files_.clear();
    for (std::size_t i = 0; i < dir_.names().size(); ++i)
      if (const BurstCounter* counter = table_.find(dir_.names()[i])) files_.emplace_back(i, *counter);
    announce();
  }

  void announce() {
    std::vector<BurstCounter> counters;
    for (const auto& [file, counter] : files_) counters.push_back(counter);
    source().set_counters(std::move(counters));
  }

  host::AttrDir dir_;
  std::vector<std::pair<std::size_t, BurstCounter>> files_;  // index in dir_
};

class Statistics final : public BurstReader {
 public:
  Statistics(BurstTable table, host::Host& host, std::uint32_t device_index, std::uint32_t port)
      : BurstReader("hw_counters", std::move(table)),
        netlink_(host::kept_netlink(host, host::NetlinkProtocol::rdma)),
        request_(host::nldev::device_request(device_index, port)) {}

 private:
  core::Result<bool> read_values(std::vector<std::uint64_t>& values) override {
    // EINVAL: a device without port statistics; EMSGSIZE: more of them than a page holds. The back-off of a
    // failure suits both.
    const auto asked = host::ask<void>(*netlink_, host::nldev::kStatGet, request_,
                                       [&](host::Bytes answer) { return take(answer, values); });
    if (!asked) return tl::unexpected(asked.error());
    return !values.empty();
  }

  core::Result<void> take(host::Bytes answer, std::vector<std::uint64_t>& values) {
    std::size_t n = 0;
    bool same = true;
    const auto parsed = host::nldev::parse_counters(answer, [&](std::string_view name, std::uint64_t value) {
      same = same && n < names_.size() && names_[n] == name;
      if (same && selected_[n] != nullptr) values.push_back(value);
      ++n;
    });
    if (!parsed || (same && n == names_.size())) return parsed;
    select(answer);
    values.clear();
    n = 0;
    return host::nldev::parse_counters(answer, [&](std::string_view, std::uint64_t value) {
      if (selected_.at(n++) != nullptr) values.push_back(value);
    });
  }

  void select(host::Bytes answer) {
    names_.clear();
    selected_.clear();
    std::vector<BurstCounter> counters;
    (void)host::nldev::parse_counters(answer, [&](std::string_view name, std::uint64_t) {
      names_.emplace_back(name);
      selected_.push_back(table_.find(name));
      if (selected_.back() != nullptr) counters.push_back(*selected_.back());
    });
    source().set_counters(std::move(counters));
  }

  const std::unique_ptr<host::Netlink> netlink_;
  const std::vector<std::byte> request_;
  std::vector<std::string> names_;             // of the last answer
  std::vector<const BurstCounter*> selected_;  // of them
};

}  // namespace

std::unique_ptr<BurstReader> make_port_files_reader(host::Host& host, const host::Device& device,
                                                    std::uint32_t port) {
  return std::make_unique<PortFiles>(host, device, port);
}

std::unique_ptr<BurstReader> make_statistics_reader(host::Host& host, const host::Device& device,
                                                    std::uint32_t port) {
  BurstTable table = device.protocol == "ib" ? burst_table(port_hw_rows(device.driver), is_roce_only)
                                             : burst_table(port_hw_rows(device.driver));
  if (table.counters.empty() || !device.netlink_index || !host.speaks(host::NetlinkProtocol::rdma))
    return nullptr;
  return std::make_unique<Statistics>(std::move(table), host, *device.netlink_index, port);
}

}  // namespace rdma_exporter::collectors
