// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/mlx5/cong.c; en_ecn.c of MLNX_OFED. Units according to NVIDIA's DCQCN parameters
// (DOCA documentation): Mbit/s, microseconds, percent, fixed point with 10 fractional bits. The unit of
// rpg_byte_reset is not documented, and rpg_gd is a logarithm: both are exported unchanged.
#include "collectors/config/congestion_parameters.h"

#include <array>
#include <cerrno>
#include <utility>

#include "collectors/attr_text.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "host/topology/pci.h"

namespace rdma_exporter::collectors {
namespace {

constexpr double kMegabits = 125'000;
constexpr double kMicroseconds = 1e-6;
constexpr double kPercent = 0.01;
constexpr double kFixedPoint = 1.0 / 1024;

struct Parameter {
  std::string_view debugfs;  // file below cc_params; the label `parameter`
  std::string_view sysfs;    // file below ecn; empty: none
  const core::MetricDesc* metric;
  double scale = 1;
};
constexpr std::array kParameters{
    Parameter{"rp_clamp_tgt_rate", "roce_rp/clamp_tgt_rate", &kRoceCcValue},
    Parameter{"rp_clamp_tgt_rate_ati", "roce_rp/clamp_tgt_rate_after_time_inc", &kRoceCcValue},
    Parameter{"rp_time_reset", "roce_rp/rpg_time_reset", &kRoceCcTime, kMicroseconds},
    Parameter{"rp_byte_reset", "roce_rp/rpg_byte_reset", &kRoceCcValue},
    Parameter{"rp_threshold", "roce_rp/rpg_threshold", &kRoceCcValue},
    Parameter{"rp_ai_rate", "roce_rp/rpg_ai_rate", &kRoceCcRate, kMegabits},
    Parameter{"rp_max_rate", "roce_rp/rpg_max_rate", &kRoceCcRate, kMegabits},
    Parameter{"rp_hai_rate", "roce_rp/rpg_hai_rate", &kRoceCcRate, kMegabits},
    Parameter{"rp_min_dec_fac", "roce_rp/rpg_min_dec_fac", &kRoceCcRatio, kPercent},
    Parameter{"rp_min_rate", "roce_rp/rpg_min_rate", &kRoceCcRate, kMegabits},
    Parameter{"rp_rate_to_set_on_first_cnp", "roce_rp/rate_to_set_on_first_cnp", &kRoceCcRate, kMegabits},
    Parameter{"rp_dce_tcp_g", "roce_rp/dce_tcp_g", &kRoceCcRatio, kFixedPoint},
    Parameter{"rp_dce_tcp_rtt", "roce_rp/dce_tcp_rtt", &kRoceCcTime, kMicroseconds},
    Parameter{"rp_rate_reduce_monitor_period", "roce_rp/rate_reduce_monitor_period", &kRoceCcTime,
              kMicroseconds},
    Parameter{"rp_initial_alpha_value", "roce_rp/initial_alpha_value", &kRoceCcRatio, kFixedPoint},
    Parameter{"rp_gd", "roce_rp/rpg_gd", &kRoceCcValue},
    Parameter{"np_min_time_between_cnps", "roce_np/min_time_between_cnps", &kRoceCcTime, kMicroseconds},
    Parameter{"np_cnp_dscp", "roce_np/cnp_dscp", &kRoceCnpDscp},
    Parameter{"np_cnp_prio_mode", "", &kRoceCcValue},
    Parameter{"np_cnp_prio", "roce_np/cnp_802p_prio", &kRoceCnpPriority},
    Parameter{"rtt_resp_dscp_valid", "", &kRoceCcValue},
    Parameter{"rtt_resp_dscp", "", &kRoceCcValue},
};

constexpr std::array kFamilies{&kRoceEcnEnabled, &kRoceCnpDscp, &kRoceCnpPriority, &kRoceCcRate,
                               &kRoceCcTime,     &kRoceCcRatio, &kRoceCcValue,     &kRoceCcReadable};
static_assert(core::all_valid(std::array{kRoceEcnEnabled, kRoceCnpDscp, kRoceCnpPriority, kRoceCcRate,
                                         kRoceCcTime, kRoceCcRatio, kRoceCcValue, kRoceCcReadable}));

// EACCES: only root may read debugfs; EPERM: kernel lockdown forbids it to everybody.
bool means_forbidden(const core::Error& error) {
  return core::is_errno(error, EACCES) || core::is_errno(error, EPERM);
}

std::string parameter_labels(const Parameter& parameter) {
  const bool own_family = parameter.metric == &kRoceCnpDscp || parameter.metric == &kRoceCnpPriority;
  return own_family ? std::string() : core::render_labels({{"parameter", parameter.debugfs}});
}

}  // namespace

std::span<const core::MetricDesc* const> congestion_families() { return kFamilies; }

CongestionParameters::CongestionParameters(host::HostFs& sysfs, std::string netdev_path,
                                           std::shared_ptr<facts::NetdevCache> facts, core::SharedText labels)
    : sysfs_(sysfs), path_(std::move(netdev_path)), facts_(std::move(facts)), labels_(std::move(labels)) {}

bool CongestionParameters::refresh(const facts::Wanted& wanted, core::JobRun& run) {
  settings_.clear();
  bool forbidden = false;
  if (sysfs_.exists(path_ + "/ecn")) {
    read_enable_bits(wanted, run);
    for (const Parameter& parameter : kParameters)
      if (!parameter.sysfs.empty())
        take(sysfs_.read(path_ + "/ecn/" + std::string(parameter.sysfs)), *parameter.metric,
             parameter_labels(parameter), parameter.scale, run);
  } else {
    forbidden = !read_debugfs(run);
  }
  if (forbidden || !settings_.empty()) settings_.push_back({&kRoceCcReadable, {}, forbidden ? 0.0 : 1.0});
  return forbidden;
}

void CongestionParameters::read_enable_bits(const facts::Wanted& wanted, core::JobRun& run) {
  const auto switches = facts_->ecn(wanted, sysfs_);
  for (const facts::EcnSwitch& one : *switches)
    take(one.text, kRoceEcnEnabled,
         core::render_labels({{"role", one.role}, {"priority", std::to_string(one.priority)}}), 1, run);
}

bool CongestionParameters::read_debugfs(core::JobRun& run) {
  const std::string address = host::find_pci_function(sysfs_, path_ + "/device").address;
  if (address.empty()) return true;
  const std::string folder = "kernel/debug/mlx5/" + address + "/cc_params";
  if (const auto there = sysfs_.stat(folder); !there) return !means_forbidden(there.error());
  for (const Parameter& parameter : kParameters)
    if (!take(sysfs_.read(folder + "/" + std::string(parameter.debugfs)), *parameter.metric,
              parameter_labels(parameter), parameter.scale, run))
      return false;
  return true;
}

// False if reading it is forbidden.
bool CongestionParameters::take(const core::Result<std::string>& text, const core::MetricDesc& metric,
                                std::string labels, double scale, core::JobRun& run) {
  if (!text) {
    if (means_forbidden(text.error())) return false;
    count_unless_absent(text.error(), run);
    return true;
  }
  // MLNX_OFED prints nothing if the firmware does not answer.
  if (core::trim(*text).empty()) return true;
  const auto value = core::parse_integer(*text);
  if (value) {
    settings_.push_back({&metric, std::move(labels), static_cast<double>(*value) * scale});
  } else {
    run.count_read_error(core::reason(value.error()));
  }
  return true;
}

void CongestionParameters::add(core::SampleBatch& out) const {
  for (const Setting& setting : settings_)
    out.add_stable(*setting.metric, *labels_, setting.value, setting.labels);
}

}  // namespace rdma_exporter::collectors
