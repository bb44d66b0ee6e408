// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/module/module.h"

#include <algorithm>

#include "host/module/module_bytes.h"

namespace rdma_exporter::host {
namespace {

struct Kind {
  std::uint8_t identifier;
  std::string_view type;
  ModuleStandard standard;
};
// SFF-8024, table 4-1: byte 0 of every module.
constexpr std::array kKinds{
    Kind{0x03, "sfp", ModuleStandard::sff8472},       Kind{0x0c, "qsfp", ModuleStandard::sff8636},
    Kind{0x0d, "qsfp_plus", ModuleStandard::sff8636}, Kind{0x11, "qsfp28", ModuleStandard::sff8636},
    Kind{0x18, "qsfp_dd", ModuleStandard::cmis},      Kind{0x19, "osfp", ModuleStandard::cmis},
    Kind{0x1b, "dsfp", ModuleStandard::cmis},         Kind{0x1e, "qsfp_cmis", ModuleStandard::cmis},
    Kind{0x1f, "sfp_dd", ModuleStandard::cmis},       Kind{0x20, "sfp_cmis", ModuleStandard::cmis}};

}  // namespace

std::string_view to_string(ThresholdLevel level) {
  switch (level) {
    case ThresholdLevel::high_alarm:
      return "high_alarm";
    case ThresholdLevel::low_alarm:
      return "low_alarm";
    case ThresholdLevel::high_warning:
      return "high_warning";
    case ThresholdLevel::low_warning:
      return "low_warning";
  }
  return "";
}

core::Result<ModuleFacts> read_module_facts(const ReadModule& read) {
  const auto first = ModuleBytes::read_with_identifier(read, {.offset = 0, .length = 3});
  if (!first) return tl::unexpected(first.error());
  const std::uint8_t identifier = first->u8(0);
  ModuleFacts facts;
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const Kind& known) { return known.identifier == identifier; });
  if (kind == kKinds.end()) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    facts.type = {'0', 'x', kDigits[identifier >> 4U], kDigits[identifier & 0xfU]};
    return facts;
  }
  facts.type = kind->type;
  facts.standard = kind->standard;
  core::Result<void> done;
  if (facts.standard == ModuleStandard::sff8472) done = read_sff8472_facts(read, facts);
  if (facts.standard == ModuleStandard::sff8636) done = read_sff8636_facts(read, facts);
  if (facts.standard == ModuleStandard::cmis) done = read_cmis_facts(read, facts);
  if (!done) return tl::unexpected(done.error());
  return facts;
}

core::Result<ModuleReadings> read_module_readings(const ReadModule& read, const ModuleFacts& facts) {
  switch (facts.standard) {
    case ModuleStandard::sff8472:
      return read_sff8472(read, facts);
    case ModuleStandard::sff8636:
      return read_sff8636(read, facts);
    case ModuleStandard::cmis:
      return read_cmis(read, facts);
    case ModuleStandard::unknown:
      break;
  }
  return ModuleReadings{};
}

}  // namespace rdma_exporter::host
