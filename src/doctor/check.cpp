// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/check.h"

#include <algorithm>

namespace rdma_exporter::doctor {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::unknown:
      return "unknown";
    case Verdict::warning:
      return "warning";
    case Verdict::critical:
      return "critical";
  }
  return "unknown";
}

Verdict worst(const Findings& findings) {
  Verdict verdict = Verdict::ok;
  for (const Finding& finding : findings) verdict = std::max(verdict, finding.verdict);
  return verdict;
}

std::string checks_markdown() {
  std::string out =
      "| Check | What is right | If it is not | What to do | Read from |\n|---|---|---|---|---|\n";
  for (const Check* check : all_checks()) {
    out.append("| `").append(check->id).append("` ");
    for (const std::string_view cell : {check->title, check->means, check->advice, check->source})
      out.append("| ").append(cell).append(" ");
    out.append("|\n");
  }
  return out;
}

}  // namespace rdma_exporter::doctor
