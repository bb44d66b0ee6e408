// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/recording_host.h"

#include <utility>
#include <vector>

#include "host/netlink/nldev/rewrite.h"
#include "record/question.h"

namespace rdma_exporter::record {
namespace {

Answer failed(const core::Error& error, std::vector<std::string> before = {}) {
  return {std::move(before), error_word(error)};
}

std::vector<std::string> parts_of(const std::vector<std::string>& list) { return list; }
std::vector<std::string> parts_of(const std::string& text) { return {text}; }
std::vector<std::string> parts_of(const host::FileId& id) {
  return {std::to_string(id.device), std::to_string(id.inode), std::to_string(id.modified_ns),
          id.directory ? "directory" : "file"};
}
std::vector<std::string> parts_of(const host::PortMtu& mtu) {
  return {std::to_string(mtu.active), std::to_string(mtu.max)};
}
std::vector<std::string> parts_of(const host::DeviceLimits& limits) {
  return {std::to_string(limits.qps), std::to_string(limits.cqs), std::to_string(limits.mrs),
          std::to_string(limits.pds), std::to_string(limits.srqs)};
}
std::vector<std::string> parts_of(const std::vector<host::DeviceNode>& nodes) {
  std::vector<std::string> parts;
  for (const host::DeviceNode& node : nodes)
    parts.push_back(node.name + (node.for_all ? " all" : "") + (node.for_group ? " group" : ""));
  return parts;
}

// Records a result and returns it.
template <typename T>
core::Result<T> noted(Tape& tape, const std::string& question, core::Result<T> result) {
  tape.note(question, result ? Answer{parts_of(*result)} : failed(result.error()));
  return result;
}

class File : public host::OpenFile {
 public:
  File(std::unique_ptr<host::OpenFile> live, Tape& tape, std::string question)
      : live_(std::move(live)), tape_(tape), question_(std::move(question)) {}

  core::Result<std::string_view> read(std::span<char> buffer) override {
    auto text = live_->read(buffer);
    tape_.note(question_, text ? Answer{{std::string(*text)}} : failed(text.error()));
    return text;
  }

 private:
  std::unique_ptr<host::OpenFile> live_;
  Tape& tape_;
  std::string question_;
};

class Dir : public host::OpenDir {
 public:
  Dir(std::unique_ptr<host::OpenDir> live, Tape& tape, std::string question)
      : live_(std::move(live)), tape_(tape), question_(std::move(question)) {}

  core::Result<host::FileId> stat() override { return noted(tape_, question_, live_->stat()); }

 private:
  std::unique_ptr<host::OpenDir> live_;
  Tape& tape_;
  std::string question_;
};

class Files : public host::HostFs {
 public:
  Files(host::HostFs& live, Tape& tape, std::string tree)
      : live_(live), tape_(tape), tree_(std::move(tree)) {}

  core::Result<std::vector<std::string>> list(const std::string& path) override {
    return noted(tape_, question("list", path), live_.list(path));
  }
  core::Result<std::string> read_link(const std::string& path) override {
    return noted(tape_, question("link", path), live_.read_link(path));
  }
  core::Result<std::string> canonical(const std::string& path) override {
    return noted(tape_, question("canonical", path), live_.canonical(path));
  }
  core::Result<host::FileId> stat(const std::string& path) override {
    return noted(tape_, question("stat", path), live_.stat(path));
  }
  core::Result<std::unique_ptr<host::OpenFile>> open(const std::string& path) override {
    auto file = live_.open(path);
    if (!file) {
      tape_.note(question("open", path), failed(file.error()));
      return file;
    }
    return std::make_unique<File>(std::move(*file), tape_, question("read", path));
  }
  core::Result<std::unique_ptr<host::OpenDir>> open_dir(const std::string& path) override {
    auto dir = live_.open_dir(path);
    if (!dir) {
      tape_.note(question("dir", path), failed(dir.error()));
      return dir;
    }
    return std::make_unique<Dir>(std::move(*dir), tape_, question("dir", path));
  }
  bool directories_change() const override { return live_.directories_change(); }
  const std::string& root() const override { return live_.root(); }

 private:
  std::string question(std::string_view operation, const std::string& path) const {
    return file_question(tree_, operation, path);
  }

  host::HostFs& live_;
  Tape& tape_;
  std::string tree_;
};

class Conversation : public host::Netlink {
 public:
  Conversation(std::unique_ptr<host::Netlink> live, Tape& tape, host::NetlinkProtocol protocol)
      : live_(std::move(live)), tape_(tape), protocol_(protocol) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t flags, host::Bytes payload,
                             const OnMessage& on_message) override {
    std::vector<std::string> messages;
    auto done = live_->request(type, flags, payload, [&](host::Bytes message) {
      messages.push_back(noted(message));
      on_message(message);
    });
    note(netlink_question(protocol_, type, flags, payload), done, std::move(messages));
    return done;
  }

  core::Result<void> dump(std::uint16_t type, host::Bytes payload, const OnPart& on_part) override {
    std::vector<std::string> messages;
    auto done = live_->dump(type, payload, [&](host::Bytes message) {
      messages.push_back(noted(message));
      return on_part(message);
    });
    note(netlink_question(protocol_, type, kDumpFlags, payload), done, std::move(messages));
    return done;
  }

 private:
  // Removes keys before they reach memory that could be written to a file.
  std::string noted(host::Bytes message) const {
    if (protocol_ != host::NetlinkProtocol::rdma) return std::string(chars(message));
    return std::string(chars(host::nldev::without_secrets(message)));
  }

  void note(std::string question, const core::Result<void>& done, std::vector<std::string> messages) {
    tape_.note(std::move(question),
               done ? Answer{std::move(messages)} : failed(done.error(), std::move(messages)));
  }

  std::unique_ptr<host::Netlink> live_;
  Tape& tape_;
  host::NetlinkProtocol protocol_;
};

class Ethtool : public host::Ethtool {
 public:
  Ethtool(host::Ethtool& live, Tape& tape) : live_(live), tape_(tape) {}

  core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) override {
    std::string question = ethtool_question(netdev, buffer);
    auto done = live_.execute(netdev, buffer);
    tape_.note(std::move(question), done ? Answer{{std::string(chars(buffer))}} : failed(done.error()));
    return done;
  }

 private:
  host::Ethtool& live_;
  Tape& tape_;
};

class Verbs : public host::Verbs {
 public:
  Verbs(host::Verbs& live, Tape& tape) : live_(live), tape_(tape) {}

  core::Result<host::PortMtu> port_mtu(const std::string& device, std::uint32_t port) override {
    return noted(tape_, port_mtu_question(device, port), live_.port_mtu(device, port));
  }
  core::Result<host::DeviceLimits> device_limits(const std::string& device) override {
    return noted(tape_, device_limits_question(device), live_.device_limits(device));
  }
  core::Result<std::unique_ptr<host::AsyncEvents>> async_events(const std::string& device) override {
    return live_.async_events(device);  // events are not answers, so they are not recorded
  }

 private:
  host::Verbs& live_;
  Tape& tape_;
};

}  // namespace

void Tape::note(std::string question, Answer answer) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = noted_.try_emplace(std::move(question));
  if (!is_new && answer.error == "too_long") return;
  entry->second = std::move(answer);
}

Snapshot Tape::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(noted_, {});
}

host::Host recording_host(host::Host& live, Tape& tape) {
  const auto make_netlink = [&live, &tape](host::NetlinkProtocol protocol) -> std::unique_ptr<host::Netlink> {
    auto netlink = live.make_netlink(protocol);
    if (!netlink) return nullptr;
    return std::make_unique<Conversation>(std::move(netlink), tape, protocol);
  };
  const auto device_nodes = [&live, &tape] {
    return noted(tape, std::string(kDeviceNodesQuestion), live.device_nodes());
  };
  using DeviceNodes = decltype(host::Host::device_nodes);
  return host::Host{
      .sysfs = std::make_unique<Files>(*live.sysfs, tape, "sysfs"),
      .procfs = std::make_unique<Files>(*live.procfs, tape, "procfs"),
      .make_netlink = make_netlink,
      .ethtool = live.ethtool ? std::make_unique<Ethtool>(*live.ethtool, tape) : nullptr,
      .verbs = live.verbs ? std::make_unique<Verbs>(*live.verbs, tape) : nullptr,
      .device_nodes = live.device_nodes ? DeviceNodes(device_nodes) : nullptr,
      .open_files = host::OpenFileBudget(0),
      .kernel = live.kernel,
      .resource_dumps_safe = live.resource_dumps_safe,
  };
}

}  // namespace rdma_exporter::record
