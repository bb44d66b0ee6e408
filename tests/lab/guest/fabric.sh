#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
#
# Devices for the guest (never run this on a host: it changes its routing rules). The fabric soft-roce:
#   rxe0 on ve0 (10.9.0.1) <-- veth pair --> rxe1 on ve1 (10.9.0.2)   traffic runs between these two
#   rxe_dummy on dum0 (10.9.1.1)                                      talks only to itself
#   rxe_virtio on eth0 (10.0.2.15), where QEMU gave the guest a network card
#
# usage: fabric.sh up [FABRIC]   make all of it (soft-roce)
#        fabric.sh load          only load the kernel modules of Soft-RoCE
set -euo pipefail

# One network namespace, two local addresses: the kernel would deliver packets between them through lo, and rxe
# drops what arrives there. So what this host sends (iif lo) looks up table 100 first, which puts the peer's address
# behind the veth; what arrives finds the local table as always. rdma_cm asks in addition whether the peer is
# routed over the device a request came in on: the `oif` rules answer.
wire_pair() {
    ip -batch - <<'BATCH'
link add ve0 type veth peer name ve1
link add dum0 type dummy
link set ve0 address 02:00:00:00:00:01
link set ve1 address 02:00:00:00:00:02
link set dum0 address 02:00:00:00:00:03
address add 10.9.0.1/32 dev ve0
address add 10.9.0.2/32 dev ve1
address add 10.9.1.1/24 dev dum0
link set ve0 mtu 4200 up
link set ve1 mtu 4200 up
link set dum0 up
neighbour replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev ve0 nud permanent
neighbour replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev ve1 nud permanent
route add 10.9.0.2/32 dev ve0 src 10.9.0.1 table 100
route add 10.9.0.1/32 dev ve1 src 10.9.0.2 table 100
route add 10.9.0.2/32 dev ve0 src 10.9.0.1 table 101
route add 10.9.0.1/32 dev ve1 src 10.9.0.2 table 102
rule add pref 10 iif lo lookup 100
rule add pref 11 oif ve0 lookup 101
rule add pref 12 oif ve1 lookup 102
rule add pref 100 lookup local
rule del pref 0
BATCH
}

allow_own_addresses() {
    local netdev conf
    for netdev in all ve0 ve1; do
        conf=/proc/sys/net/ipv4/conf/$netdev
        echo 0 >"$conf/rp_filter"
        echo 1 >"$conf/accept_local"
        echo 1 >"$conf/arp_ignore"
    done
}

add_rxe() {
    local batch=$'link add rxe0 type rxe netdev ve0\nlink add rxe1 type rxe netdev ve1\n'
    batch+=$'link add rxe_dummy type rxe netdev dum0\n'
    [[ ! -e /sys/class/net/eth0 ]] || batch+=$'link add rxe_virtio type rxe netdev eth0\n'
    rdma -b - <<<"${batch%$'\n'}"
}

load() { modprobe -a rdma_rxe ib_uverbs rdma_ucm ib_umad dummy veth virtio_net; }

soft_roce() {
    load
    wire_pair
    [[ ! -e /sys/class/net/eth0 ]] || ip -batch - <<<$'address add 10.0.2.15/24 dev eth0\nlink set eth0 up'
    allow_own_addresses
    add_rxe
}

[[ -e /lab/version ]] || { echo "fabric.sh: not in the lab's guest" >&2; exit 1; }
case ${1:-}/${2:-soft-roce} in
    load/*) load ;;
    up/soft-roce) soft_roce ;;
    up/*) echo "fabric.sh: no fabric $2" >&2; exit 2 ;;
    *) echo "usage: fabric.sh up [FABRIC] | load" >&2; exit 2 ;;
esac
