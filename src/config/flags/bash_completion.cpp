// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/help.h"

#include "config/flags/flags.h"
#include "config/flags/option_table.h"

namespace rdma_exporter::config {
namespace {

// A flag with a value ends in "=", so that bash appends no blank.
// clang-format off
constexpr std::string_view kFunction = R"bash(
_rdma_exporter_words() {
  local command=${COMP_WORDS[1]-}
  if [[ $COMP_CWORD -eq 1 ]]; then
    echo "$_rdma_exporter_flags ${!_rdma_exporter_commands[*]}"
  elif [[ -n $command && -v _rdma_exporter_commands["$command"] ]]; then
    echo "$_rdma_exporter_flags ${_rdma_exporter_commands[$command]}"
  else
    echo "$_rdma_exporter_flags"
  fi
}

_rdma_exporter() {
  local word=$2 flag=
  # "=" breaks words: the flag is then the word before it, the value the one behind.
  if [[ $3 == = ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $word == = ]]; then
    flag=$3 word=
  fi
  case $flag in
    --describe) mapfile -t COMPREPLY < <(compgen -W "markdown json man bash-completion" -- "$word") ;;
    --*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$(_rdma_exporter_words)" -- "$word") ;;
  esac
  if [[ ${COMPREPLY[0]-} == *= ]]; then
    compopt -o nospace
  fi
}
complete -F _rdma_exporter rdma_exporter
)bash";
// clang-format on

std::string command_words(const CommandFlag& flag) {
  const std::string names(flag.names);
  const std::string name = names.substr(names.find("--"));
  return name + (flag.placeholder.empty() ? " " : "= ");
}

std::string option_words(const Option& option) {
  if (option.shape == Option::Shape::toggle) return "--" + option.flag + " --no-" + option.flag + " ";
  return "--" + option.flag + "= ";
}

}  // namespace

std::string bash_completion(std::span<const CollectorChoice> collectors,
                            std::span<const CommandSyntax> commands) {
  std::string words;
  for (const CommandFlag& flag : command_flags()) words += command_words(flag);
  for (const Option& option : option_table(collectors)) words += option_words(option);
  words.pop_back();
  std::string text = "# bash completion for rdma_exporter\n_rdma_exporter_flags=\"" + words + "\"\n";
  text += "declare -gA _rdma_exporter_commands=(\n";
  for (const CommandSyntax& command : commands) {
    text += "  [" + std::string(command.name) + "]=\"";
    for (const CommandFlag& flag : command.flags) text += command_words(flag);
    text += "\"\n";
  }
  return text + ")\n" + std::string(kFunction);
}

}  // namespace rdma_exporter::config
