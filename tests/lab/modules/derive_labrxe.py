#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Make the module labrxe out of the kernel's Soft-RoCE: derive_labrxe.py DIR, which has its source and is changed.

Only calls of labrxe.h are added, so that nothing of the kernel's code is kept here."""

import pathlib
import re
import sys

# File, what is looked for (a regular expression that must match once), what replaces it.
CHANGES = [
    ("rxe.c", r'\.type = "rxe"', '.type = "labrxe"'),
    ("rxe.c", r'MODULE_ALIAS_RDMA_LINK\("rxe"\)', 'MODULE_ALIAS_RDMA_LINK("labrxe")'),
    ("rxe.c", r"(\tmutex_destroy\(&rxe->usdev_lock\);\n)", r"\1\tlab_rdma_exit(&rxe->lab);\n"),
    ("rxe.c", r"(\tib_unregister_driver\(RDMA_DRIVER_RXE\);\n)", r"\1\tlabrxe_exit();\n"),
    ("rxe_verbs.h", r'(#include "rxe_hw_counters.h"\n)', r'\1#include "labrxe.h"\n'),
    ("rxe_verbs.h", r"(\tstruct crypto_shash\s+\*tfm;\n)(?=\};)", r"\1\tstruct lab_rdma lab;\n"),
    ("rxe_verbs.c", r"\tib_set_device_ops\(dev, &rxe_dev_ops\);\n(?=\terr = ib_device_set_netdev\(&rxe->ib_dev, (\S+), 1\))",
     r"\terr = labrxe_register(rxe, ibdev_name, \1);\n\tif (err)\n\t\treturn err;\n"
     r"\tib_set_device_ops(dev, &rxe_dev_ops);\n"),
    ("rxe_net.c", r"(\trxe_counter_inc\(rxe, RXE_CNT_SENT_PKTS\);\n)", r"\1\tlabrxe_sent(rxe, pkt);\n"),
    ("rxe_recv.c", r"(\trxe_counter_inc\(rxe, RXE_CNT_RCVD_PKTS\);\n)", r"\1\tlabrxe_received(rxe, pkt);\n"),
]


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    for name, pattern, replacement in CHANGES:
        path = folder / name
        text, count = re.subn(pattern, replacement, path.read_text())
        if count != 1:
            print(f"{path}: {count} matches of {pattern}: this kernel's Soft-RoCE is another one", file=sys.stderr)
            return 1
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
