#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
#
# Devices for the guest (never run this on a host: it changes its routing rules).
#
# soft-roce, Debian's own rdma_rxe:
#   rxe0 on ve0 (10.9.0.1) <-- veth pair --> rxe1 on ve1 (10.9.0.2)   traffic runs between these two
#   rxe_dummy on dum0 (10.9.1.1)                                      talks only to itself
#   rxe_virtio on eth0 (10.0.2.15), where QEMU gave the guest a network card
#
# connectx, with the modules of tests/lab/modules:
#   mlx5_0 on cx0 (10.8.0.1) <--> mlx5_1 on cx1 (10.8.0.2)          labrxe on labnic: a ConnectX-7 with real verbs
#   bnxt_re0 on bcm0 (10.8.1.1) <--> bnxt_re1 on bcm1 (10.8.1.2)    labib on labnic: a NetXtreme-E without verbs
#
# scripted, the same network cards with devices without verbs, whose reads can be stuck:
#   mlx5_0 on cx0, mlx5_1 on cx1, bnxt_re0 on bcm0, bnxt_re1 on bcm1    labib on labnic
#   rxe0 on ve0 (10.9.0.1) <-- veth pair --> rxe1 on ve1 (10.9.0.2)     Debian's own rdma_rxe
#   slot0, down, without an RDMA device: QEMU's network card behind a PCIe root port
#   netdevsim of the kernel's source, which Debian does not build: loaded, without a device
#
# eight-ports, for the benchmark: mlx5_0 on cx0 to mlx5_7 on cx7    labib on labnic
#
# siw, Soft-iWARP of the kernel's source, which Debian does not build:
#   siw0 on ve0 (10.9.0.1) <-- veth pair --> siw1 on ve1 (10.9.0.2)
#
# hosts, in each of two guests that QEMU joined (scripts/lab), with Debian's own rdma_rxe:
#   rxe0 on eth1 (10.7.0.1, fd00:7::1) of the first, host1 <-- network --> the same with .2, ::2 of the second, host2
#   eth1.7 (10.7.7.1) <-- VLAN 7 of that network --> eth1.7 (10.7.7.2)
#
# usage: fabric.sh up [FABRIC]   make all of it (soft-roce)
#        fabric.sh load          only load the kernel modules of Soft-RoCE
#        fabric.sh down          take all of it away, whatever has been done to it
#        fabric.sh control       only the interface `control`, over which the tests reach this guest
set -euo pipefail

tables=100

# One network namespace, two local addresses: the kernel would deliver packets between them through lo, and rxe
# drops what arrives there. So what this host sends (iif lo) looks up table 100 first, which puts the peer's address
# behind the wire; what arrives finds the local table as always. rdma_cm asks in addition whether the peer is
# routed over the device a request came in on: the `oif` rules answer.
wire_rules() {
    ip -batch - <<'BATCH'
rule add pref 10 iif lo lookup 100
rule add pref 100 lookup local
rule del pref 0
BATCH
    echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
    echo 1 >/proc/sys/net/ipv4/conf/all/accept_local
    echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
}

wire_end() { # NETDEV ADDRESS PEER_NETDEV PEER_ADDRESS
    local conf=/proc/sys/net/ipv4/conf/$1 mac
    mac=$(</sys/class/net/"$3"/address)
    tables=$((tables + 1))
    ip -batch - <<BATCH
address add $2/32 dev $1
link set $1 mtu 4200 up
neighbour replace $4 lladdr $mac dev $1 nud permanent
route add $4/32 dev $1 src $2 table 100
route add $4/32 dev $1 src $2 table $tables
rule add pref $((tables - 90)) oif $1 lookup $tables
BATCH
    echo 0 >"$conf/rp_filter"
    echo 1 >"$conf/accept_local"
    echo 1 >"$conf/arp_ignore"
}

wire() { # NETDEV ADDRESS NETDEV ADDRESS
    wire_end "$1" "$2" "$3" "$4"
    wire_end "$3" "$4" "$1" "$2"
}

name_card() { # NAME ADDRESS
    local netdev
    modprobe virtio_net
    for netdev in /sys/class/net/*; do
        [[ ${netdev##*/} == "$1" || $(<"$netdev/address") != "$2" ]] || ip link set "${netdev##*/}" name "$1"
    done
}

control() {
    name_card control 52:54:00:12:36:01
    ip -batch - <<<$'address add 10.0.3.15/24 dev control\nlink set control up'
}

load() { modprobe -a rdma_rxe ib_uverbs rdma_ucm ib_umad dummy veth virtio_net; }

soft_roce() {
    local batch
    load
    ip -batch - <<'BATCH'
link add ve0 address 02:00:00:00:00:01 type veth peer name ve1 address 02:00:00:00:00:02
link add dum0 address 02:00:00:00:00:03 type dummy
address add 10.9.1.1/24 dev dum0
link set dum0 up
BATCH
    [[ ! -e /sys/class/net/eth0 ]] || ip -batch - <<<$'address add 10.0.2.15/24 dev eth0\nlink set eth0 up'
    wire_rules
    wire ve0 10.9.0.1 ve1 10.9.0.2
    batch=$'link add rxe0 type rxe netdev ve0\nlink add rxe1 type rxe netdev ve1\n'
    batch+=$'link add rxe_dummy type rxe netdev dum0\n'
    [[ ! -e /sys/class/net/eth0 ]] || batch+=$'link add rxe_virtio type rxe netdev eth0\n'
    rdma -b - <<<"${batch%$'\n'}"
}

# A module of ours, and before it what it depends on.
insert() { # NAME
    local depends
    depends=$(modinfo -F depends "$LAB_MODULES/$1.ko")
    # shellcheck disable=SC2086  # words
    [[ -z $depends ]] || modprobe -a ${depends//,/ }
    insmod "$LAB_MODULES/$1.ko"
}

# No two counters of a device have the same value, so that a mixed-up pair is seen.
set_different_values() {
    local ctl
    for ctl in /sys/kernel/debug/lab*/*/ctl; do echo '*=1000' >"$ctl"; done
}

cards() {
    insert labnic
    wire_rules
    wire cx0 10.8.0.1 cx1 10.8.0.2
    wire bcm0 10.8.1.1 bcm1 10.8.1.2
}

scripted_devices() { # DEVICE NETDEV...
    while [[ $# -gt 0 ]]; do
        echo "$1 $2" >/sys/kernel/debug/labib/add
        shift 2
    done
}

connectx() {
    modprobe -a ib_uverbs rdma_ucm
    cards
    insert labrxe
    insert labib
    rdma -b - <<<$'link add mlx5_0 type labrxe netdev cx0\nlink add mlx5_1 type labrxe netdev cx1'
    scripted_devices bnxt_re0 bcm0 bnxt_re1 bcm1
}

scripted() {
    modprobe -a rdma_rxe ib_uverbs veth
    ip link add ve0 address 02:00:00:00:00:01 type veth peer name ve1 address 02:00:00:00:00:02
    cards
    wire ve0 10.9.0.1 ve1 10.9.0.2
    rdma -b - <<<$'link add rxe0 type rxe netdev ve0\nlink add rxe1 type rxe netdev ve1'
    insert labib
    scripted_devices mlx5_0 cx0 mlx5_1 cx1 bnxt_re0 bcm0 bnxt_re1 bcm1
    insert netdevsim
    name_card slot0 52:54:00:12:36:02
}

eight_ports() {
    local n
    modprobe ib_uverbs
    insert labnic
    insert labib
    for n in {0..7}; do
        ip link set "cx$n" up
        scripted_devices "mlx5_$n" "cx$n"
    done
}

siw() {
    modprobe -a ib_uverbs rdma_ucm veth crc32c_generic
    ip link add ve0 address 02:00:00:00:00:01 type veth peer name ve1 address 02:00:00:00:00:02
    wire_rules
    wire ve0 10.9.0.1 ve1 10.9.0.2
    insert siw
    rdma -b - <<<$'link add siw0 type siw netdev ve0\nlink add siw1 type siw netdev ve1'
}

hosts() {
    modprobe -a rdma_rxe ib_uverbs virtio_net 8021q
    echo "host$LAB_HOST" >/proc/sys/kernel/hostname
    echo 1 >/proc/sys/net/ipv6/conf/eth1/keep_addr_on_down
    ip -batch - <<BATCH
link set eth1 up
address add 10.7.0.$LAB_HOST/24 dev eth1
address add fd00:7::$LAB_HOST/64 dev eth1 nodad
link add link eth1 name eth1.7 type vlan id 7
link set eth1.7 up
address add 10.7.7.$LAB_HOST/24 dev eth1.7
BATCH
    rdma link add rxe0 type rxe netdev eth1
}

down() {
    local netdev table
    ip -all netns delete
    for netdev in /sys/class/net/*; do
        netdev=${netdev##*/}
        case $netdev in
            lo | control | bonding_masters) ;;
            eth0 | eth1 | slot0) ip -batch - <<<"link set $netdev down"$'\n'"address flush dev $netdev" ;;
            *) [[ ! -e /sys/class/net/$netdev || -e /sys/class/net/$netdev/device ]] || ip link delete "$netdev" ;;
        esac
    done
    for module in labrxe labib labnic netdevsim siw rdma_rxe; do
        [[ ! -e /sys/module/$module ]] || rmmod "$module"
    done
    [[ ! -e /sys/class/infiniband ]] || ! compgen -G '/sys/class/infiniband/*' || return 1
    ip -batch - <<BATCH
rule flush
rule add pref 0 lookup local
rule add pref 32766 lookup main
rule add pref 32767 lookup default
BATCH
    for table in {100..104}; do ip route flush table "$table" 2>/dev/null || true; done
}

[[ -e /lab/version ]] || { echo "fabric.sh: not in the lab's guest" >&2; exit 1; }
case ${1:-}/${2:-soft-roce} in
    load/*) load ;;
    down/*) down ;;
    control/*) control ;;
    up/soft-roce) soft_roce ;;
    up/connectx) connectx && set_different_values ;;
    up/eight-ports) eight_ports && set_different_values ;;
    up/hosts) hosts ;;
    up/siw) siw ;;
    up/scripted) scripted && set_different_values ;;
    up/*) echo "fabric.sh: no fabric $2" >&2; exit 2 ;;
    *) echo "usage: fabric.sh up [FABRIC] | load | down | control" >&2; exit 2 ;;
esac
