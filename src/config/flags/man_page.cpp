// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/help.h"

#include "config/flags/flags.h"
#include "config/flags/option_table.h"

namespace rdma_exporter::config {
namespace {

constexpr std::string_view kBefore =
    R"(.ad l
.nh
.SH NAME
rdma_exporter \- Prometheus exporter for hosts with RDMA devices
.SH SYNOPSIS
.B rdma_exporter
.RI [ FLAG ]...
.br
.B rdma_exporter
.I COMMAND
.RI [ FLAG "]... [" ARGUMENT ]...
.SH DESCRIPTION
Serves what the kernel knows about the RDMA devices of this host (RoCE, InfiniBand, iWARP) over HTTP, in the formats that
Prometheus reads. It is read-only: it changes no setting, starts no program and needs no privilege.
.PP
Every flag below the first group is also a key of the YAML file given with
.BR \-\-config.file :
dots separate levels, and a hyphen becomes an underscore. The key of
.BI \-\-collector. NAME
is
.IR collector.NAME.enabled .
Flags override the file, and the file overrides the defaults.
)";

constexpr std::string_view kAfter =
    R"(.SH SIGNALS
.TP
.B SIGHUP
Reload the configuration. An invalid configuration is rejected, and the previous one stays in use.
.TP
.BR SIGTERM ", " SIGINT
Close the port at once, finish the responses in flight and exit within two seconds. A read in uninterruptible sleep in
the kernel keeps the process alive, without port and connections, until that read returns.
.SH EXIT STATUS
0 after a signal or a successful command, 1 if it cannot serve or print, 2 if the flags or the configuration file are
invalid. The commands doctor and fleet return their verdict instead, as described in their help.
.SH FILES
.TP
.I /etc/rdma_exporter/rdma_exporter.yml
The configuration of the packaged service.
.TP
.I /etc/default/rdma_exporter
ARGS: additional flags for the packaged service.
.SH SEE ALSO
.BR rdma (8),
.BR ethtool (8),
.BR dcb (8)
)";

// Escapes a line of text: troff interprets backslashes, hyphens, and a dot or quote at the start of a line. A
// regular expression is one long word, so a line break is allowed after each alternative.
std::string escaped(std::string_view text) {
  std::string out;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
      if (c == '|') out += "\\:";
    }
  }
  return out;
}

std::string entry(const std::string& flag, const std::string& placeholder, std::string_view help) {
  std::string text = ".TP\n.B " + escaped(flag);
  if (!placeholder.empty()) text += "=\\fI" + escaped(placeholder) + "\\fR";
  return text + "\n" + escaped(help) + "\n";
}

std::string option_entry(const Option& option, const Config& defaults) {
  const bool is_toggle = option.shape == Option::Shape::toggle;
  std::string help = option.help;
  for (const std::string& value : option.values(defaults))
    if (!value.empty()) help += " Default: " + value + ".";
  if (option.shape == Option::Shape::list) help += " Repeatable.";
  return entry((is_toggle ? "--[no-]" : "--") + option.flag, is_toggle ? "" : option.placeholder, help);
}

// The output of the command's --help, with its line breaks.
std::string command_entry(const CommandSyntax& command) {
  std::string text = ".TP\n.B " + escaped(command.name);
  if (!command.arguments.empty()) text += " \\fI" + escaped(command.arguments) + "\\fR";
  text += "\n" + escaped(command.summary) + "\n";
  for (const CommandFlag& flag : command.flags) {
    text += ".RS\n" + entry(std::string(flag.names), std::string(flag.placeholder), flag.help) + ".RE\n";
  }
  return text;
}

}  // namespace

std::string man_page(std::span<const CollectorChoice> collectors, std::span<const CommandSyntax> commands,
                     std::string_view version) {
  const Config defaults = default_config(collectors);
  std::string text = ".TH RDMA_EXPORTER 1 \"\" \"rdma_exporter " + std::string(version) + "\"\n";
  text += kBefore;
  text += ".SH COMMANDS\n";
  for (const CommandSyntax& command : commands) text += command_entry(command);
  text += ".SH OPTIONS\n";
  for (const CommandFlag& flag : command_flags())
    text += entry(std::string(flag.names), std::string(flag.placeholder), flag.help);
  for (const Option& option : option_table(collectors)) text += option_entry(option, defaults);
  text += kAfter;
  return text;
}

}  // namespace rdma_exporter::config
