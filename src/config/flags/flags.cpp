// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "config/flags/command.h"

namespace rdma_exporter::config {
namespace {

struct Command {
  CommandFlag flag;
  std::string_view name;  ///< in messages
  Action action;
};

constexpr std::array kCommands{
    Command{{"-h, --help", "", "Show this help."}, "--help", Action::help},
    Command{{"--version", "", "Show the version and how it was built."}, "--version", Action::version},
    Command{{"--config.file", "FILE", "Read the configuration from this YAML file."},
            "--config.file",
            Action::serve},
    Command{{"--describe", "FORMAT",
             "Describe the program: its metrics as markdown or json, its flags as man or bash-completion."},
            "--describe",
            Action::describe_markdown},
    Command{{"--check-config", "", "Check the flags and the configuration file, then exit."},
            "--check-config",
            Action::check_config},
    Command{{"--print-config", "", "Print the resulting configuration as YAML, then exit."},
            "--print-config",
            Action::print_config},
    Command{{"--once", "", "Collect once, print the metrics, then exit."}, "--once", Action::once},
};

constexpr std::array<std::pair<std::string_view, Action>, 4> kDescribeFormats{
    {{"markdown", Action::describe_markdown},
     {"json", Action::describe_json},
     {"man", Action::describe_man},
     {"bash-completion", Action::describe_bash_completion}}};

constexpr auto kFlags = [] {
  std::array<CommandFlag, kCommands.size()> flags;
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = kCommands[i].flag;
  return flags;
}();

tl::unexpected<core::Error> error_at(std::string_view flag, std::string_view problem) {
  return core::config_error(std::string(flag) + ": " + std::string(problem));
}

/// The arguments without the program's name. CLI11 would take the argument after "--flag=" as its value, so
/// an empty value becomes an argument of its own.
std::vector<std::string> words_of(std::span<const char* const> arguments) {
  std::vector<std::string> words;
  for (const char* argument : arguments.subspan(std::min<std::size_t>(1, arguments.size()))) {
    std::string word = argument;
    const bool has_empty_value =
        word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1;
    if (has_empty_value) word.pop_back();
    words.push_back(std::move(word));
    if (has_empty_value) words.emplace_back();
  }
  return words;
}

/// Parses one command line with CLI11, which is used only for splitting: all values remain text, so that
/// flags and file have the same checks and messages.
class CommandLineReader {
 public:
  CommandLineReader(std::span<const char* const> arguments, std::span<const Option> options,
                    const CommandSyntax* syntax)
      : words_(words_of(arguments)), options_(options), syntax_(syntax) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const Command& command : kCommands) {
      const std::string names(command.flag.names);
      commands_.push_back(command.flag.placeholder.empty() ? app_.add_flag(names) : text_option(names));
    }
    for (const Option& option : options) {
      const std::string name = "--" + option.flag;
      if (is_own(name)) {
        parsed_.push_back(nullptr);
        continue;
      }
      const bool is_toggle = option.shape == Option::Shape::toggle;
      parsed_.push_back(is_toggle ? app_.add_flag(name + ",!--no-" + option.flag) : text_option(name));
    }
    for (const CommandFlag& flag : own_flags()) {
      const std::string name(flag.names);
      own_.push_back(flag.placeholder.empty() ? app_.add_flag(name) : text_option(name));
    }
  }

  core::Result<FlagValues> read() {
    try {
      app_.parse(std::vector<std::string>(words_.rbegin(), words_.rend()));
    } catch (const CLI::ArgumentMismatch&) {  // thrown only if the arguments end before a value
      return error_at(words_.back(), "needs a value");
    } catch (const CLI::Error& error) {
      return core::config_error(error.what());
    }
    FlagValues values;
    if (auto done = take_extras(values); !done) return tl::unexpected(done.error());
    if (auto done = take_commands(values); !done) return tl::unexpected(done.error());
    if (auto done = take_own(values); !done) return tl::unexpected(done.error());
    if (auto done = take_options(values); !done) return tl::unexpected(done.error());
    return values;
  }

 private:
  CLI::Option* text_option(const std::string& name) {
    return app_.add_option(name)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  std::span<const CommandFlag> own_flags() const {
    return syntax_ == nullptr ? std::span<const CommandFlag>() : syntax_->flags;
  }

  /// A command's flag hides the daemon's flag of the same name: its --interval is the time between
  /// repetitions.
  bool is_own(std::string_view name) const {
    const auto flags = own_flags();
    return std::any_of(flags.begin(), flags.end(), [&](const CommandFlag& own) { return own.names == name; });
  }

  core::Result<void> take_extras(FlagValues& values) const {
    for (const std::string& extra : app_.remaining()) {
      if (extra == "--") continue;
      const bool is_flag = extra.size() >= 2 && extra.front() == '-';
      if (is_flag) return unknown(extra.substr(0, extra.find('=')));
      if (syntax_ == nullptr) return error_at(in_quotes(extra), "is not a flag (flags start with --)");
      values.arguments.push_back(extra);
    }
    return {};
  }

  core::Result<void> unknown(const std::string& flag) const {
    std::vector<std::string> known;
    for (const Command& command : kCommands) known.emplace_back(command.name);
    for (const Option& option : options_) {
      known.push_back("--" + option.flag);
      if (option.shape == Option::Shape::toggle) known.push_back("--no-" + option.flag);
    }
    for (const CommandFlag& own : own_flags()) known.emplace_back(own.names);
    const auto start = std::min(flag.find_first_not_of('-'), flag.size());
    const std::string near = nearest("--" + flag.substr(start), known);
    return error_at(flag,
                    near.empty() ? "unknown flag (see --help)" : "unknown flag (did you mean " + near + "?)");
  }

  /// CLI11 takes whatever follows as a value, even the next flag.
  bool is_swallowed_flag(const std::string& value) const {
    return value.starts_with('-') && std::find(words_.begin(), words_.end(), value) != words_.end();
  }

  core::Result<void> check_text(std::string_view name, const std::vector<std::string>& values,
                                bool is_list) const {
    if (values.size() > 1 && !is_list) return error_at(name, "is given twice");
    for (const std::string& value : values) {
      if (!is_swallowed_flag(value)) continue;
      return error_at(name,
                      "needs a value (write one that starts with - as " + std::string(name) + "=VALUE)");
    }
    return {};
  }

  core::Result<void> take_commands(FlagValues& values) const {
    std::string_view chosen;
    for (std::size_t i = 0; i < kCommands.size(); ++i) {
      const std::vector<std::string>& given = commands_[i]->results();
      if (given.empty()) continue;
      const Command& command = kCommands[i];
      if (auto done = check_text(command.name, given, false); !done) return done;
      if (syntax_ != nullptr && command.action != Action::help && command.action != Action::serve)
        return error_at(command.name, "cannot be combined with the command " + std::string(syntax_->name));
      auto action = command_action(command, given.front(), values);
      if (!action) return tl::unexpected(action.error());
      if (*action == Action::serve || values.action == Action::help || values.action == Action::version)
        continue;
      if (!chosen.empty()) return error_at(command.name, "cannot be combined with " + std::string(chosen));
      chosen = command.name;
      values.action = *action;
    }
    return {};
  }

  static core::Result<Action> command_action(const Command& command, const std::string& value,
                                             FlagValues& values) {
    if (command.flag.placeholder.empty()) {
      if (value != "true") return error_at(command.name, "takes no value");
      return command.action;
    }
    if (command.action == Action::serve) {
      if (value.empty()) return error_at(command.name, "needs a value");
      values.config_file = value;
      return Action::serve;
    }
    for (const auto& [format, action] : kDescribeFormats)
      if (value == format) return action;
    return error_at(command.name,
                    in_quotes(value) + " is not a known format (use markdown, json, man or bash-completion)");
  }

  core::Result<void> take_own(FlagValues& values) const {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const std::vector<std::string>& given = own_[i]->results();
      if (given.empty()) continue;
      const CommandFlag& flag = own_flags()[i];
      if (auto done = check_text(flag.names, given, false); !done) return done;
      if (flag.placeholder.empty() && given.front() != "true") return error_at(flag.names, "takes no value");
      values.own.emplace(flag.names, given.front());
    }
    return {};
  }

  core::Result<void> take_options(FlagValues& values) const {
    for (std::size_t i = 0; i < options_.size(); ++i) {
      if (parsed_[i] == nullptr) continue;
      const std::vector<std::string>& given = parsed_[i]->results();
      if (given.empty()) continue;
      const Option& option = options_[i];
      auto done = check_text("--" + option.flag, given, option.shape == Option::Shape::list);
      if (!done) return done;
      values.options.emplace_back(&option, given);
    }
    return {};
  }

  std::vector<std::string> words_;
  std::span<const Option> options_;
  const CommandSyntax* syntax_;  ///< nullptr: none
  CLI::App app_;
  std::vector<CLI::Option*> commands_;  // owned by app_
  std::vector<CLI::Option*> parsed_;    // one per option; nullptr: hidden by the command
  std::vector<CLI::Option*> own_;       // one per flag of the command
};

}  // namespace

std::span<const CommandFlag> command_flags() { return kFlags; }

core::Result<FlagValues> read_flags(std::span<const char* const> arguments, std::span<const Option> options,
                                    const CommandSyntax* command) {
  return CommandLineReader(arguments, options, command).read();
}

}  // namespace rdma_exporter::config
