// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/recording.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/text/regular_file.h"
#include "record/archive/archive.h"
#include "record/archive/limits.h"
#include "record/archive/snapshot_text.h"
#include "record/question.h"

namespace rdma_exporter::record {
namespace {

core::Result<std::string> read_file(const std::string& path) {
  auto bytes = core::RegularFile::open(path).and_then(
      [](const auto& file) { return file.read(limits::kArchiveBytes); });
  if (!bytes) return core::unreadable(path, bytes.error());
  return bytes;
}

// In hexadecimal digits.
std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-256");
  return to_hex({reinterpret_cast<const char*>(digest.data()), length});
}

}  // namespace

core::Result<Recording> Recording::load(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return tl::unexpected(bytes.error());
  return read(*bytes, path);
}

core::Result<Recording> Recording::read(std::string_view bytes, const std::string& name) {
  const auto archive_error = [&](const std::string& problem) {
    return core::config_error(name + " " + problem);
  };
  const auto members = read_archive(bytes);
  if (!members) return archive_error(members.error().context.text());
  const auto text = members->find(Manifest::kMember);
  if (text == members->end() || text->second.size() > limits::kManifestBytes)
    return archive_error("is not a recording: it has no manifest");
  auto manifest = parse_manifest(text->second);
  if (!manifest) return archive_error(manifest.error().context.text());
  Recording recording;
  recording.manifest_ = std::move(*manifest);
  for (std::size_t i = 0; i < recording.snapshots(); ++i) {
    const Manifest::SnapshotEntry& entry = recording.manifest_.snapshots[i];
    const auto member = members->find(entry.member);
    if (member == members->end()) return archive_error("lacks the member " + entry.member);
    if (sha256(member->second) != entry.sha256)
      return archive_error("has a modified member: " + entry.member);
    if (auto added = recording.add(i, member->second); !added)
      return archive_error("cannot be read: " + entry.member + ": " + added.error().context.text());
  }
  return recording;
}

core::Result<void> Recording::add(std::size_t snapshot, std::string_view text) {
  bool too_many = false;
  auto done = read_difference(text, [&](std::string question, std::optional<Answer> answer) {
    too_many = too_many || ++count_ > limits::kAnswers;
    if (!too_many) answers_[std::move(question)].emplace_back(snapshot, std::move(answer));
  });
  if (too_many) return core::config_error("too many answers");
  return done;
}

const Answer* Recording::find(std::string_view question, std::size_t snapshot) const {
  const auto known = answers_.find(question);
  if (known == answers_.end()) return nullptr;
  const std::vector<Version>& versions = known->second;
  const auto later = std::find_if(versions.begin(), versions.end(),
                                  [snapshot](const Version& version) { return version.first > snapshot; });
  if (later == versions.begin()) return nullptr;
  const std::optional<Answer>& answer = std::prev(later)->second;
  return answer ? &*answer : nullptr;
}

bool Recording::asked(std::string_view start) const {
  const auto next = answers_.lower_bound(start);
  return next != answers_.end() && next->first.starts_with(start);
}

std::string write_recording(Manifest manifest, const std::vector<Snapshot>& snapshots) {
  Members members;
  const Snapshot nothing;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const std::string name = snapshot_member(i);
    std::string text = write_difference(i == 0 ? nothing : snapshots[i - 1], snapshots[i]);
    manifest.snapshots[i].member = name;
    manifest.snapshots[i].sha256 = sha256(text);
    members.emplace(name, std::move(text));
  }
  members.emplace(Manifest::kMember, to_json(manifest));
  const auto time = std::chrono::floor<std::chrono::seconds>(manifest.snapshots.back().time);
  return write_archive(members, time.time_since_epoch().count());
}

}  // namespace rdma_exporter::record
