// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "record/archive/manifest.h"
#include "record/question.h"

namespace rdma_exporter::record {

/// A recorded host: the answers of its seams at one or several times. Immutable once it has been read.
class Recording {
 public:
  /// Reads the archive at `path`. The error is a message that contains the name.
  static core::Result<Recording> load(const std::string& path);
  /// The same for the archive's bytes; `name` is used in messages.
  static core::Result<Recording> read(std::string_view bytes, const std::string& name);

  const Manifest& manifest() const { return manifest_; }
  std::size_t snapshots() const { return manifest_.snapshots.size(); }
  /// The answer in that snapshot; nullptr if the question was not asked then.
  const Answer* find(std::string_view question, std::size_t snapshot) const;
  /// Whether any question with this prefix was ever asked.
  bool asked(std::string_view start) const;

 private:
  // Valid from this snapshot on; nullopt: no longer answered.
  using Version = std::pair<std::size_t, std::optional<Answer>>;

  core::Result<void> add(std::size_t snapshot, std::string_view text);

  Manifest manifest_;
  std::map<std::string, std::vector<Version>, std::less<>> answers_;
  std::size_t count_ = 0;
};

/// The archive of a recording. `manifest.snapshots` must contain the times; names and checksums are filled
/// in.
std::string write_recording(Manifest manifest, const std::vector<Snapshot>& snapshots);

}  // namespace rdma_exporter::record
