#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Says which links of the Markdown files in git lead nowhere: to a file that is not there, or to a heading that its page does
not have. Links to other servers are not followed.

    tests/tools/links.py            every tracked page
    tests/tools/links.py FILE...    these
    tests/tools/links.py --linked   lists the tracked pages, and the files that they link to
"""

import functools
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
FENCE = re.compile(r"^ *```")


def tracked_pages():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=TOP,
                            check=True, capture_output=True).stdout
    return [TOP / name for name in listed.decode().split("\0") if name and (TOP / name).exists()]


def prose(text):
    """(number, line) of what is not code: neither a fenced nor an indented block, nor `code` in a line."""
    fenced, blank = False, True
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not (line.startswith("    ") and blank):
            yield number, re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), line)
        blank = not line.strip() or (blank and line.startswith("    "))


def slug(heading):
    """As GitHub and MkDocs make an anchor of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


@functools.cache
def anchors(path):
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"#{1,6} (.+)", line):
            name = slug(heading[1])
            found.append(f"{name}-{found.count(name)}" if name in found else name)
    return frozenset(found)


def local_links(page):
    """(line, target, file, heading) of one page."""
    for number, line in prose(page.read_text(encoding="utf-8")):
        for target in LINK.findall(line):
            if not ELSEWHERE.match(target):
                name, _, anchor = target.partition("#")
                yield number, target, (page.parent / name).resolve() if name else page, anchor


def broken(page):
    """[(line, target, why)] of one page."""
    faults = []
    for number, target, path, anchor in local_links(page):
        if not path.exists():
            faults.append((number, target, "no such file"))
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            faults.append((number, target, "no such heading"))
    return faults


def main(arguments):
    if arguments == ["--linked"]:
        pages = set(tracked_pages())
        linked = {path for page in pages for _, _, path, _ in local_links(page) if path.is_file()}
        print("\n".join(sorted(str(path.relative_to(TOP)) for path in pages | linked)))
        return 0
    pages = [pathlib.Path(name).resolve() for name in arguments] or tracked_pages()
    faults = [(page, *fault) for page in pages for fault in broken(page)]
    for page, number, target, why in faults:
        print(f"{page.relative_to(TOP) if page.is_relative_to(TOP) else page}:{number}: {target}: {why}")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
