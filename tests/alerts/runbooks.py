# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The runbooks as the tests see them: sections, commands, and what each command names."""

import re

import cases

FOLDER = cases.ALERTS / "runbooks"
COMMON = FOLDER / "README.md"
SECTIONS = ["Confirm", "Decide", "Act", "Escalate or drain", "False positives", "Dashboard", "Related alerts"]
VARIABLE = re.compile(r"\$\{?([a-z]\w*)")
TOKEN = re.compile(r"""(?x) \s*( \#.* | \d?[<>]+\(? | [|;()&]+ |
                        (?: "(?:[^"\\]|\\.)*" | '[^']*' | \$\{[^}\s]*\} | [^\s|;()&<>"'] )+ )""")


class Runbook:
    def __init__(self, path):
        self.path, self.name, self.text = path, path.stem, path.read_text(encoding="utf-8")
        head, *rest = re.split(r"(?m)^## (.+)\n", self.text)
        self.meaning = head.partition("\n")[2].strip()
        self.titles = rest[::2]
        self.sections = dict(zip(rest[::2], [body.strip() for body in rest[1::2]]))

    def blocks(self, section=None):
        """Lines of each block of commands, of one section or of all."""
        text = self.text if section is None else self.sections[section]
        return [block.splitlines() for block in re.findall(r"(?ms)^```sh\n(.*?)^```", text)]

    def commands(self):
        """[words] of every simple command."""
        return [words for block in self.blocks() for line in block if not line.startswith("#")
                for words in simple_commands(line)]


def pages():
    """One for each alert."""
    return [Runbook(path) for path in sorted(FOLDER.glob("*.md")) if path != COMMON]


def simple_commands(line):
    """The commands of a line, split at pipes and substitutions. Quotes stay: they tell a value from a word of the tool."""
    found = [[]]
    for token in TOKEN.findall(line):
        if token.startswith("#"):
            break
        if token in ("{", "}", "<(") or set(token) <= set("|;()&"):
            found.append([])
        elif not re.fullmatch(r"\d?[<>]+", token):
            found[-1].append(token)
    return [words for words in map(without_ssh, map(without_assignments, found)) if words]


def without_assignments(words):
    while words and re.match(r"[a-z]\w*=", words[0]):
        words = words[1:]
    return words


def without_ssh(words):
    """What is run on the other host."""
    return words[2:] if words[:1] == ["ssh"] and len(words) > 2 else words


def is_value(word):
    """What stands for something of the host, and is no word of the tool: quoted, a variable, a path, a number."""
    return bool(re.search(r"[\"'$/]", word) or re.fullmatch(r"[\d:.,a-z]*\d[\d:.,a-z]*", word))


def assigned(text):
    return set(re.findall(r"(?:^|\s)([a-z]\w*)=", text))
