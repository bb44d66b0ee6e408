# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The check of links finds what leads nowhere, and nothing else."""

import pathlib
import tempfile
import unittest

from tests.tools import links

PAGE = """# One page

[here](#a-heading-with-code), [there](other.md#two), [file](other.md), [elsewhere](https://example.org/x)

## A heading with `code`

```sh
[not](a-link.md)
```

    [nor](this.md)

`[nor](that.md)` [gone](gone.md) [lost](other.md#three)
"""


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name, "page.md")
        self.page.write_text(PAGE, encoding="utf-8")
        pathlib.Path(folder.name, "other.md").write_text("# Two\n\n# Two\n", encoding="utf-8")

    def test_finds_missing_files_and_headings_only(self):
        self.assertEqual([fault[1:] for fault in links.broken(self.page)],
                         [("gone.md", "no such file"), ("other.md#three", "no such heading")])

    def test_numbers_headings_that_are_there_twice(self):
        self.assertEqual(links.anchors(self.page.parent / "other.md"), {"two", "two-1"})


if __name__ == "__main__":
    unittest.main()
