// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as an archive, as a manifest and as a snapshot. Rejected input yields a message; accepted input
// stays within the limits, is written unchanged, and can be anonymised.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "record/anonymize/anonymize.h"
#include "record/archive/limits.h"
#include "record/archive/manifest.h"
#include "record/archive/recording.h"
#include "record/archive/snapshot_text.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

void read_archive(std::string_view bytes) {
  const auto recording = record::Recording::read(bytes, "x");
  if (!recording) {
    check(recording.error().kind == core::Errc::config, "a message");
    return check(recording.error().context.text().starts_with("x "), "with the name");
  }
  check(recording->snapshots() >= 1 && recording->snapshots() <= record::limits::kSnapshots, "limits");
}

void read_manifest(std::string_view bytes) {
  const auto manifest = record::parse_manifest(bytes);
  if (!manifest) return check(!manifest.error().context.empty(), "a message");
  check(record::parse_manifest(record::to_json(*manifest)).has_value(), "can be read again");
}

void read_snapshot(std::string_view bytes) {
  record::Snapshot snapshot;
  const auto done =
      record::read_difference(bytes, [&](std::string question, std::optional<record::Answer> answer) {
        if (answer) snapshot.insert_or_assign(std::move(question), std::move(*answer));
      });
  if (!done) check(done.error().kind == core::Errc::parse, "a parse error");
  record::Snapshot again;
  const auto reread =
      record::read_difference(record::write_difference({}, snapshot),
                              [&](std::string question, std::optional<record::Answer> answer) {
                                again.insert_or_assign(std::move(question), std::move(answer.value()));
                              });
  check(reread.has_value() && again == snapshot, "the same again");
  record::Pseudonyms pseudonyms;
  check(record::anonymous(snapshot, "gpu17", pseudonyms).size() == snapshot.size(), "every question stays");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_archive(bytes);
  read_manifest(bytes);
  read_snapshot(bytes);
  return 0;
}
