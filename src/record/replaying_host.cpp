// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/replaying_host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "host/ethtool/genl_ethtool.h"
#include "record/question.h"

namespace rdma_exporter::record {
namespace {

using Source = std::shared_ptr<const Player>;

// The parts of the answer; `unknown` is the errno for questions that were not asked.
core::Result<const std::vector<std::string>*> parts(const Player& player, const std::string& question,
                                                    int unknown) {
  const Answer* answer = player.find(question);
  if (answer == nullptr) return core::os_error(unknown);
  if (!answer->error.empty()) return tl::unexpected(error_of_word(answer->error));
  return &answer->parts;
}

template <typename Number>
bool to_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Parses exactly `Count` numbers.
template <typename Number, std::size_t Count>
core::Result<std::array<Number, Count>> numbers(const std::vector<std::string>& texts) {
  std::array<Number, Count> all{};
  if (texts.size() != Count) return core::parse_error();
  for (std::size_t i = 0; i < Count; ++i)
    if (!to_number(texts[i], all[i])) return core::parse_error();
  return all;
}

core::Result<host::FileId> file_id(const Player& player, const std::string& question) {
  const auto found = parts(player, question, ENOENT);
  if (!found) return tl::unexpected(found.error());
  const std::vector<std::string>& texts = **found;
  host::FileId id;
  const bool good = texts.size() == 4 && to_number(texts[0], id.device) && to_number(texts[1], id.inode) &&
                    to_number(texts[2], id.modified_ns);
  if (!good) return core::parse_error();
  id.directory = texts[3] == "directory";
  return id;
}

core::Result<std::string> text(const Player& player, const std::string& question, int unknown) {
  const auto found = parts(player, question, unknown);
  if (!found) return tl::unexpected(found.error());
  return (*found)->empty() ? std::string() : (*found)->front();
}

class ReplayedFile : public host::OpenFile {
 public:
  ReplayedFile(Source player, std::string question)
      : player_(std::move(player)), question_(std::move(question)) {}

  core::Result<std::string_view> read(std::span<char> buffer) override {
    // A file that is missing in a later snapshot fails as the kernel does for a file that was kept open.
    const auto content = text(*player_, question_, ENODEV);
    if (!content) return tl::unexpected(content.error());
    if (content->size() >= buffer.size()) return core::too_long_error();
    std::copy(content->begin(), content->end(), buffer.begin());
    return std::string_view(buffer.data(), content->size());
  }

 private:
  Source player_;
  std::string question_;
};

class ReplayedDir : public host::OpenDir {
 public:
  ReplayedDir(Source player, std::string question)
      : player_(std::move(player)), question_(std::move(question)) {}
  core::Result<host::FileId> stat() override { return file_id(*player_, question_); }

 private:
  Source player_;
  std::string question_;
};

class ReplayedFiles : public host::HostFs {
 public:
  ReplayedFiles(Source player, std::string tree) : player_(std::move(player)), tree_(std::move(tree)) {}

  core::Result<std::vector<std::string>> list(const std::string& path) override {
    const auto found = parts(*player_, question("list", path), ENOENT);
    if (!found) return tl::unexpected(found.error());
    return **found;
  }
  core::Result<std::string> read_link(const std::string& path) override {
    return text(*player_, question("link", path), ENOENT);
  }
  core::Result<std::string> canonical(const std::string& path) override {
    return text(*player_, question("canonical", path), ENOENT);
  }
  core::Result<host::FileId> stat(const std::string& path) override {
    return file_id(*player_, question("stat", path));
  }
  core::Result<std::unique_ptr<host::OpenFile>> open(const std::string& path) override {
    if (const Answer* refused = player_->find(question("open", path)))
      return tl::unexpected(error_of_word(refused->error));
    std::string read = question("read", path);
    if (player_->find(read) == nullptr) return core::os_error(ENOENT);
    return std::make_unique<ReplayedFile>(player_, std::move(read));
  }
  core::Result<std::unique_ptr<host::OpenDir>> open_dir(const std::string& path) override {
    auto dir = std::make_unique<ReplayedDir>(player_, question("dir", path));
    if (const auto there = dir->stat(); !there) return tl::unexpected(there.error());
    return dir;
  }
  const std::string& root() const override { return tree_; }

 private:
  std::string question(std::string_view operation, const std::string& path) const {
    return file_question(tree_, operation, path);
  }

  Source player_;
  std::string tree_;
};

class ReplayedConversation : public host::Netlink {
 public:
  ReplayedConversation(Source player, host::NetlinkProtocol protocol)
      : player_(std::move(player)), protocol_(protocol) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t flags, host::Bytes payload,
                             const OnMessage& on_message) override {
    return answer(type, flags, payload, [&](host::Bytes message) {
      on_message(message);
      return true;
    });
  }
  core::Result<void> dump(std::uint16_t type, host::Bytes payload, const OnPart& on_part) override {
    return answer(type, kDumpFlags, payload, on_part);
  }

 private:
  core::Result<void> answer(std::uint16_t type, std::uint16_t flags, host::Bytes payload,
                            const OnPart& on_part) {
    const Answer* answer = find(type, flags, payload);
    if (answer == nullptr) return core::os_error(EOPNOTSUPP);
    for (const std::string& message : answer->parts)
      if (!on_part(bytes(message))) return {};
    if (!answer->error.empty()) return tl::unexpected(error_of_word(answer->error));
    return {};
  }

  // A capture asks for whatever can be exported; a replay may ask for less.
  const Answer* find(std::uint16_t type, std::uint16_t flags, host::Bytes payload) const {
    const Answer* exact = player_->find(netlink_question(protocol_, type, flags, payload));
    if (exact != nullptr || protocol_ != host::NetlinkProtocol::generic) return exact;
    const auto whole = host::genl_ethtool::with_all_groups(payload);
    return whole ? player_->find(netlink_question(protocol_, type, flags, *whole)) : nullptr;
  }

  Source player_;
  host::NetlinkProtocol protocol_;
};

class ReplayedEthtool : public host::Ethtool {
 public:
  explicit ReplayedEthtool(Source player) : player_(std::move(player)) {}

  core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) override {
    const auto content = text(*player_, ethtool_question(netdev, buffer), EOPNOTSUPP);
    if (!content) return tl::unexpected(content.error());
    if (content->size() > buffer.size()) return core::os_error(EFAULT);
    std::memcpy(buffer.data(), content->data(), content->size());
    return {};
  }

 private:
  Source player_;
};

class ReplayedVerbs : public host::Verbs {
 public:
  explicit ReplayedVerbs(Source player) : player_(std::move(player)) {}

  core::Result<host::PortMtu> port_mtu(const std::string& device, std::uint32_t port) override {
    return query<2>(port_mtu_question(device, port)).map([](const auto& n) {
      return host::PortMtu{n[0], n[1]};
    });
  }
  core::Result<host::DeviceLimits> device_limits(const std::string& device) override {
    return query<5>(device_limits_question(device)).map([](const auto& n) {
      return host::DeviceLimits{n[0], n[1], n[2], n[3], n[4]};
    });
  }
  core::Result<std::unique_ptr<host::AsyncEvents>> async_events(const std::string& /*device*/) override {
    return core::os_error(EOPNOTSUPP);
  }

 private:
  template <std::size_t Count>
  core::Result<std::array<std::uint32_t, Count>> query(const std::string& question) {
    const auto found = parts(*player_, question, EOPNOTSUPP);
    if (!found) return tl::unexpected(found.error());
    return numbers<std::uint32_t, Count>(**found);
  }

  Source player_;
};

core::Result<std::vector<host::DeviceNode>> device_nodes(const Player& player) {
  const auto found = parts(player, std::string(kDeviceNodesQuestion), EOPNOTSUPP);
  if (!found) return tl::unexpected(found.error());
  std::vector<host::DeviceNode> nodes;
  for (const std::string& part : **found) {
    const std::string_view rights = std::string_view(part).substr(std::min(part.find(' '), part.size()));
    nodes.push_back({part.substr(0, part.size() - rights.size()),
                     rights.find(" all") != std::string_view::npos,
                     rights.find(" group") != std::string_view::npos});
  }
  return nodes;
}

}  // namespace

host::Host replaying_host(std::shared_ptr<const Player> player, unsigned kept_files) {
  const host::Kernel kernel = player->recording().manifest().kernel;
  const auto asked = [&](std::string_view start) { return player->recording().asked(start); };
  const auto make_netlink = [player](host::NetlinkProtocol protocol) -> std::unique_ptr<host::Netlink> {
    return std::make_unique<ReplayedConversation>(player, protocol);
  };
  const auto none = [](host::NetlinkProtocol) { return std::unique_ptr<host::Netlink>(); };
  using MakeNetlink = decltype(host::Host::make_netlink);
  using DeviceNodes = decltype(host::Host::device_nodes);
  return host::Host{
      .sysfs = std::make_unique<ReplayedFiles>(player, "sysfs"),
      .procfs = std::make_unique<ReplayedFiles>(player, "procfs"),
      .make_netlink = asked("netlink ") ? MakeNetlink(make_netlink) : MakeNetlink(none),
      .ethtool = asked("ethtool ") ? std::make_unique<ReplayedEthtool>(player) : nullptr,
      .verbs = asked("verbs ") ? std::make_unique<ReplayedVerbs>(player) : nullptr,
      .device_nodes =
          asked(kDeviceNodesQuestion) ? DeviceNodes([player] { return device_nodes(*player); }) : nullptr,
      .open_files = host::OpenFileBudget(kept_files),
      .kernel = kernel,
      .resource_dumps_safe = host::resource_dumps_safe(kernel.release, kernel.version),
  };
}

}  // namespace rdma_exporter::record
