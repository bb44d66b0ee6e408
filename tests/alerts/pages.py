# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Pages of the real exporter as input of `promtool test rules`: one page is one point in time."""


def selector(name, labels):
    inner = ",".join('%s="%s"' % (label, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n"))
                     for label, value in sorted(labels.items()))
    return f"{name}{{{inner}}}"


def series(pages, **target):
    """[{series, values}] of pages (Samples of harness.py); a gap where a page does not have the series."""
    keys = dict.fromkeys(key for page in pages for key in page)
    found = []
    for name, labels in keys:
        values = [page.get((name, labels)) for page in pages]
        found.append({"series": selector(name, {**target, **dict(labels)}), "values": notation(values)})
    return found


def notation(values):
    """Short where nothing changes, which is most."""
    parts, i = [], 0
    while i < len(values):
        run = i
        while run + 1 < len(values) and values[run + 1] == values[i]:
            run += 1
        text = "_" if values[i] is None else f"{values[i]}"
        parts.append(text if run == i else f"{text}x{run - i}" if values[i] is not None else f"_x{run - i + 1}")
        i = run + 1
    return " ".join(parts)
