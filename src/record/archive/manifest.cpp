// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/manifest.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "record/archive/limits.h"

namespace rdma_exporter::record {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTool = "rdma_exporter";

Json devices_json(const std::vector<Manifest::Device>& devices) {
  Json all = Json::array();
  for (const Manifest::Device& device : devices)
    all.push_back({{"name", device.name},
                   {"driver", device.driver},
                   {"firmware", device.firmware},
                   {"board", device.board}});
  return all;
}

// The text of an object's member; empty if it is missing.
std::string text(const Json& object, const char* name) { return object.value(name, std::string()); }

// The library converts a number with a fraction or exponent without checking whether it fits.
std::int64_t integer(const Json& number) {
  if (!number.is_number_integer()) throw Json::type_error::create(302, "not an integer", &number);
  return number.get<std::int64_t>();
}

Manifest read(const Json& json) {
  Manifest manifest;
  const Json tool = json.value("tool", Json::object());
  manifest.tool_version = text(tool, "version");
  manifest.tool_revision = text(tool, "revision");
  manifest.anonymized = json.value("anonymized", false);
  const Json& kernel = json.at("kernel");
  manifest.kernel = {text(kernel, "release"), text(kernel, "version"), text(kernel, "machine")};
  for (const Json& device : json.value("devices", Json::array()))
    manifest.devices.push_back(
        {text(device, "name"), text(device, "driver"), text(device, "firmware"), text(device, "board")});
  for (const Json& snapshot : json.at("snapshots"))
    manifest.snapshots.push_back({snapshot.at("member").get<std::string>(),
                                  Time(std::chrono::milliseconds(integer(snapshot.at("time_ms")))),
                                  snapshot.at("sha256").get<std::string>()});
  return manifest;
}

// What is wrong with a manifest that can be parsed; empty if nothing is.
std::string problem(const Manifest& manifest) {
  if (manifest.snapshots.empty()) return "no snapshot";
  if (manifest.snapshots.size() > limits::kSnapshots) return "too many snapshots";
  for (std::size_t i = 0; i < manifest.snapshots.size(); ++i) {
    const Manifest::SnapshotEntry& entry = manifest.snapshots[i];
    if (entry.member != snapshot_member(i)) return "a snapshot with an unexpected name";
    if (i > 0 && entry.time < manifest.snapshots[i - 1].time) return "snapshots out of order";
  }
  return {};
}

}  // namespace

std::string snapshot_member(std::size_t index) { return fmt::format("snapshots/{:04}", index); }

std::string utc(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{seconds.count()}));
}

std::string to_json(const Manifest& manifest) {
  Json snapshots = Json::array();
  for (const Manifest::SnapshotEntry& entry : manifest.snapshots)
    snapshots.push_back({{"member", entry.member},
                         {"time", utc(entry.time)},
                         {"time_ms", entry.time.time_since_epoch().count()},
                         {"sha256", entry.sha256}});
  const host::Kernel& kernel = manifest.kernel;
  const Json json{
      {"format", Manifest::kFormat},
      {"tool", {{"name", kTool}, {"version", manifest.tool_version}, {"revision", manifest.tool_revision}}},
      {"anonymized", manifest.anonymized},
      {"kernel", {{"release", kernel.release}, {"version", kernel.version}, {"machine", kernel.machine}}},
      {"devices", devices_json(manifest.devices)},
      {"snapshots", std::move(snapshots)}};
  // A driver's board id may contain any bytes.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

core::Result<Manifest> parse_manifest(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    const std::int64_t format = integer(json.at("format"));
    if (format > Manifest::kFormat)
      return core::config_error(
          fmt::format("has format {}, but this program reads formats up to {}: use a newer version", format,
                      Manifest::kFormat));
    Manifest manifest = read(json);
    if (const std::string wrong = problem(manifest); !wrong.empty())
      return core::config_error(fmt::format("has a manifest with {}", wrong));
    return manifest;
  } catch (const Json::exception&) {
    return core::config_error("has a damaged manifest");
  }
}

}  // namespace rdma_exporter::record
