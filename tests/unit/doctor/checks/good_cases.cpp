// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/doctor/checks/check_cases.h"

namespace rdma_exporter::doctor {
namespace {

const std::vector<CheckCase> kGood{
    {"link_layer", "all InfiniBand", Verdict::ok, make_infiniband},
    {"link_width", "all lanes", Verdict::ok, make_infiniband},
    {"link_speed", "all sisters alike", Verdict::ok, make_infiniband},
    {"software_roce", "nothing but software", Verdict::ok,
     [](Facts& f) {
       for (DeviceFacts& each : f.devices) each.family = host::Driver::rxe;
     }},
    {"pcie_link", "a slot that is slower than the card", Verdict::ok,
     [](Facts& f) {
       pci(f).links[0].below.width = 8;
       pci(f).links[0].above->max_width = 8;
     }},
    {"numa_node", "one node", Verdict::ok,
     [](Facts& f) {
       f.system.numa_nodes = 1;
       pci(f).numa_node = -1;
     }},
    {"numa_node", "the first node", Verdict::ok, [](Facts& f) { pci(f).numa_node = 0; }, "numa_node 0"},
    {"irq_affinity", "half of them nearby", Verdict::ok,
     [](Facts& f) {
       pci(f).vectors = std::vector<Vector>{{100, test::numbers("4")},
                                            {101, test::numbers("5")},
                                            {102, test::numbers("1")},
                                            {103, test::numbers("2")}};
     },
     "2 of 4 vectors"},
    {"netdev_mtu", "just enough for 4096", Verdict::ok, [](Facts& f) { netdev(f).mtu = 4200; }, "4200 bytes"},
    {"traffic_class", "the number of the class is not that of the priority", Verdict::ok,
     [](Facts& f) {
       dcb(f).ets->priority_class[3] = 5;
       dcb(f).ets->priority_class[5] = 3;
     },
     "its own traffic class"},
    {"irq_affinity", "more vectors than processors nearby", Verdict::ok,
     [](Facts& f) {
       for (std::uint32_t i = 0; i < 60; ++i) pci(f).vectors->push_back({200 + i, test::numbers("0-3")});
     },
     "3 of 63"},
    {"roce_gids", "addresses that are not known", Verdict::ok,
     [](Facts& f) { netdev(f).addresses = core::os_error(EPERM); }, "cannot be read"},
    {"probe_priority", "the class of rdma_cm", Verdict::ok,
     [](Facts& f) {
       port(f).traffic_class->value = 48 << 2;
       dcb(f).apps = {{host::dcb::kSelectorDscp, 3, 48}};
     },
     "DSCP 48"},
    {"roce_priority", "no class preset", Verdict::ok, [](Facts& f) { port(f).traffic_class.reset(); }, "26"},
    {"roce_priority", "by PCP on a VLAN", Verdict::ok,
     [](Facts& f) {
       dcb(f).apps.clear();
       gids(f).push_back({"::", 3, host::GidType::roce_v2});
       port(f).gid_netdevs.push_back("cx0.100");
     }},
    {"rings", "as large as they can be", Verdict::ok,
     [](Facts& f) {
       netdev(f).rings = host::genl_ethtool::Rings{512, 512, 512, 512};
     }},
    {"udp_port", "reserved", Verdict::ok,
     [](Facts& f) {
       f.system.local_ports->first = 1024;
       f.system.reserved_ports = test::numbers("4791");
     },
     "reserved"},
    {"device_present", "handed to a virtual machine", Verdict::ok,
     [](Facts& f) {
       f.system.adapters[0] = {"0000:3b:00.0", "vfio-pci", false, true, false};
     }},
    {"device_files", "for a group", Verdict::ok,
     [](Facts& f) {
       (*f.system.nodes)[1] = {"uverbs0", false, true};
     },
     "group"},
    {"pcie_errors", "when the link trained", Verdict::ok,
     [](Facts& f) { count(f, "rdma_device_pcie_error_messages_total", 900, 0); }, "not now"},
    {"module", "at its limit", Verdict::ok,
     [](Facts& f) { measure(f, "rdma_netdev_module_temperature_celsius", "", 75); }, "5 values"},
    {"retries", "long ago", Verdict::ok, [](Facts& f) { count(f, "rdma_port_ack_timeouts_total", 12, 0); },
     "not now"},
    {"pause_frames", "a few", Verdict::ok, [](Facts& f) { count(f, "rdma_pfc_frames_total", 5000, 4); }},
    {"pause_frames", "more than ten, but not in a second", Verdict::ok,
     [](Facts& f) { count(f, "rdma_pfc_frames_total", 5000, 19); }, "not now"},
};

}  // namespace

const std::vector<CheckCase>& good_cases() { return kGood; }

}  // namespace rdma_exporter::doctor
