// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/check.h"
#include "doctor/host_facts.h"

// Shared by the files of checks.
namespace rdma_exporter::doctor {

/// Adds findings about one subject.
class Judge {
 public:
  Judge(Findings& out, Subject subject) : out_(out), subject_(std::move(subject)) {}

  void add_finding(const Check& check, Verdict verdict, std::string evidence) const {
    out_.push_back({&check, subject_, verdict, std::move(evidence), {}});
  }
  void ok(const Check& check, std::string evidence) const {
    add_finding(check, Verdict::ok, std::move(evidence));
  }
  void unknown(const Check& check, std::string why) const {
    add_finding(check, Verdict::unknown, std::move(why));
  }
  /// Adds the verdict unknown: what should have been read, and why it could not be.
  void unread(const Check& check, std::string_view what, const core::Error& error) const {
    unknown(check, std::string(what) + " cannot be read: " + core::to_string(error));
  }

 private:
  Findings& out_;
  Subject subject_;
};

/// "100 Gb/s" of bytes per second.
std::string gigabits(double bytes_per_second);

/// "ACTIVE", as in core/sysfs.c.
std::string_view port_state_name(std::uint32_t state);

/// "a, b and 3 more"; "none" for an empty list.
std::string listed(const std::vector<std::string>& names, std::size_t at_most = 4);

/// Whether the port speaks RoCE.
bool is_roce(const DeviceFacts& device, const PortFacts& port);
bool is_active(const PortFacts& port);

Subject of_device(const DeviceFacts& device);
Subject of_port(const DeviceFacts& device, const PortFacts& port);
Subject of_netdev(const DeviceFacts& device, const NetdevFacts& netdev);

}  // namespace rdma_exporter::doctor
