// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/doctor/checks/check_cases.h"

namespace rdma_exporter::doctor {
namespace {

constexpr Verdict kUnknown = Verdict::unknown;
constexpr Verdict kWarning = Verdict::warning;
constexpr Verdict kCritical = Verdict::critical;

const std::vector<CheckCase> kBad{
    {"device_present", "adapter without device", kWarning,
     [](Facts& f) { f.system.adapters[0].has_device = false; }, "0000:3b:00.0 (mlx5_core)"},
    {"device_present", "nothing at all", kWarning,
     [](Facts& f) {
       f = Facts{};
       f.system = test::healthy_system();
       f.system.adapters.clear();
     }},
    {"driver_bound", "no driver", kCritical, [](Facts& f) { f.system.adapters[0].driver.clear(); },
     "0000:3b:00.0"},
    {"firmware", "two versions of one model", kWarning, [](Facts& f) { device(f).firmware = "28.38.1000"; },
     "28.38.1000, 28.39.1002"},
    {"software_roce", "rxe beside hardware", kWarning,
     [](Facts& f) { device(f).family = host::Driver::rxe; }},
    {"port_state", "no link", kCritical,
     [](Facts& f) {
       port(f).state = 1;
       port(f).physical_state = 2;
     },
     "Polling"},
    {"port_state", "switched off", kWarning,
     [](Facts& f) {
       port(f).state = 1;
       netdev(f).admin_up = false;
     },
     "cx0 is set down"},
    {"port_state", "no subnet manager", kCritical, [](Facts& f) { port(f).state = 2; }, "INIT"},
    {"port_state", "waits for the subnet manager", kWarning, [](Facts& f) { port(f).state = 3; }, "ARMED"},
    {"port_state", "the driver does not answer", kUnknown,
     [](Facts& f) { port(f).state = core::os_error(EIO); }, "EIO"},
    {"link_layer", "one card is InfiniBand", kWarning, [](Facts& f) { port(f).link_layer = "InfiniBand"; }},
    {"link_speed", "slower than it can", kWarning, [](Facts& f) { netdev(f).speed = std::optional(12.5e9); },
     "100 Gb/s, of 400 Gb/s"},
    {"link_speed", "slower than the other port", kWarning,
     [](Facts& f) {
       make_infiniband(f);
       port(f).rate = 25e9;
     },
     "200 Gb/s; the best"},
    {"link_width", "one lane of four", kWarning,
     [](Facts& f) {
       make_infiniband(f);
       port(f).lanes = 1;
     },
     "1 lanes"},
    {"pcie_link", "half of the lanes", kWarning, [](Facts& f) { pci(f).links[0].below.width = 15; },
     "32 GT/s x15 of 32 GT/s x16"},
    {"pcie_link", "too narrow for the port", kCritical, [](Facts& f) { pci(f).links[0].below.width = 8; }},
    {"pcie_link", "slow between switch and root", kCritical,
     [](Facts& f) {
       pci(f).links.push_back({test::pcie_end("0000:39:00.0"), test::pcie_end("0000:38:00.0")});
       pci(f).links[1].below.speed = 8e9;
     },
     "0000:39:00.0: 8 GT/s x16"},
    {"pcie_link", "a virtual machine does not say", kUnknown,
     [](Facts& f) { pci(f).links[0].below.speed.reset(); }},
    {"pcie_bandwidth", "a slot of the fourth generation", kWarning,
     [](Facts& f) {
       pci(f).links[0].below.speed = 16e9;
       pci(f).links[0].above->max_speed = 16e9;
     },
     "252.1 Gb/s for a port of 400"},
    {"pcie_bandwidth", "the line code of the second generation", kWarning,
     [](Facts& f) {
       pci(f).links[0].below.speed = 5e9;
       pci(f).links[0].above->max_speed = 5e9;
     },
     "64 Gb/s for a port of 400"},
    {"numa_node", "the firmware does not say", kWarning, [](Facts& f) { pci(f).numa_node = -1; }},
    {"irq_affinity", "all on the other node", kWarning,
     [](Facts& f) {
       for (Vector& vector : *pci(f).vectors) vector.cpus = test::numbers("0-3");
     },
     "0 of 3 vectors"},
    {"irq_affinity", "one of four nearby", kWarning,
     [](Facts& f) {
       pci(f).vectors = std::vector<Vector>{{100, test::numbers("4")},
                                            {101, test::numbers("0")},
                                            {102, test::numbers("1")},
                                            {103, test::numbers("2")}};
     },
     "1 of 4 vectors"},
    {"netdev_mtu", "1500", kWarning, [](Facts& f) { netdev(f).mtu = 1500; }, "1500 bytes"},
    {"rdma_mtu", "1024 of 4096", kWarning,
     [](Facts& f) {
       port(f).mtu = host::PortMtu{1024, 4096};
     }},
    {"rdma_mtu", "no access to the verbs device", kUnknown,
     [](Facts& f) { port(f).mtu = core::os_error(EACCES, "/dev/infiniband/uverbs0"); }, "uverbs0: EACCES"},
    {"roce_gids", "no RoCE v2", kCritical,
     [](Facts& f) {
       gids(f).resize(2);
       gids(f)[0].type = host::GidType::ib_or_roce_v1;
     }},
    {"roce_gids", "none for the address", kWarning, [](Facts& f) { gids(f).pop_back(); },
     "none for 10.8.0.1"},
    {"rings", "256", kWarning, [](Facts& f) { netdev(f).rings->rx = 256; }, "rx 256 of 8192"},
    {"pfc", "off", kWarning, [](Facts& f) { dcb(f).pfc->enabled = 0; }, "none"},
    {"pfc", "on for two", kWarning, [](Facts& f) { dcb(f).pfc->enabled = 0x18; }, "3, 4"},
    {"pfc", "a driver without DCB", kUnknown, [](Facts& f) { netdev(f).dcb = core::os_error(EOPNOTSUPP); }},
    {"global_pause", "beside PFC", kCritical, [](Facts& f) { netdev(f).pause->rx = true; }, "rx on, tx off"},
    {"global_pause", "instead of PFC", kWarning,
     [](Facts& f) {
       netdev(f).pause->tx = true;
       dcb(f).pfc->enabled = 0;
     }},
    {"roce_priority", "the class of rdma_cm goes elsewhere", kCritical,
     [](Facts& f) { port(f).traffic_class->value = 48 << 2; },
     "DSCP 48 (default of rdma_cm) maps to priority 6"},
    {"roce_priority", "no DSCP leads there", kWarning,
     [](Facts& f) {
       port(f).traffic_class.reset();
       auto& apps = dcb(f).apps;
       apps.erase(apps.begin());
     }},
    {"roce_priority", "by PCP without VLAN", kWarning, [](Facts& f) { dcb(f).apps.clear(); }, "untagged"},
    {"probe_priority", "a class of its own", kWarning, [](Facts& f) { f.probe->traffic_class = 0; },
     "DSCP 0 maps to priority 0, lossless: 3"},
    {"probe_priority", "nothing is preset", kWarning,
     [](Facts& f) {
       port(f).traffic_class.reset();
       dcb(f).apps = {{host::dcb::kSelectorDscp, 3, 48}};
     },
     "DSCP 26 maps to priority 0"},
    {"traffic_class", "shared", kWarning, [](Facts& f) { dcb(f).ets->priority_class[0] = 3; }, "3 with 0"},
    {"traffic_class", "shared, of another number", kWarning,
     [](Facts& f) {
       dcb(f).ets->priority_class[3] = 5;
       dcb(f).ets->priority_class[0] = 5;
       dcb(f).ets->priority_class[5] = 3;
     },
     "3 with 0"},
    {"ecn", "notification is off", kWarning,
     [](Facts& f) {
       for (EcnFacts& ecn : *netdev(f).ecn) ecn.enabled = ecn.role == "rp";
     },
     "np of priority 3"},
    {"ecn", "the kernel's own mlx5", kUnknown, [](Facts& f) { netdev(f).ecn = core::os_error(ENOENT); }},
    {"resource_limits", "most queue pairs are gone", kWarning,
     [](Facts& f) { (*device(f).resources)[0].current = 110'000; }},
    {"resource_limits", "nearly all are gone", kCritical,
     [](Facts& f) { (*device(f).resources)[0].current = 131'000; }, "qp 131000 of 131072"},
    {"netns", "seen from a container", kWarning, [](Facts& f) { port(f).has_counters = false; }},
    {"udp_port", "among the local ports", kWarning, [](Facts& f) { f.system.local_ports->first = 1024; },
     "1024 to 60999"},
    {"udp_port", "the first of the local ports", kWarning,
     [](Facts& f) { f.system.local_ports->first = 4791; }, "4791 to 60999"},
    {"udp_port", "the last of the local ports", kWarning,
     [](Facts& f) {
       f.system.local_ports = std::pair{1024U, 4791U};
     },
     "1024 to 4791"},
    {"kernel_hazards", "an old kernel", kWarning,
     [](Facts& f) { f.system.kernel_version = "Debian 6.1.100-1"; }, "use after free"},
    {"kernel_hazards", "a core from elsewhere", kWarning, [](Facts& f) { f.system.out_of_tree_core = true; }},
    {"locked_memory", "8 MiB", kWarning,
     [](Facts& f) { f.system.locked_memory = std::optional<std::uint64_t>(8 << 20); }, "8 MiB"},
    {"device_files", "for root", kWarning,
     [](Facts& f) {
       (*f.system.nodes)[1] = {"uverbs0", false, false};
     },
     "uverbs0"},
    {"device_files", "none", kCritical, [](Facts& f) { f.system.nodes = core::os_error(ENOENT); }},
    {"device_files", "no verbs", kCritical, [](Facts& f) { f.system.nodes->pop_back(); }},
    {"discards", "now", kWarning, [](Facts& f) { count(f, "rdma_netdev_discards_total", 500, 20); },
     "500, +20 in 2 s"},
    {"receive_buffers", "now", kWarning,
     [](Facts& f) { count(f, "rdma_port_receive_buffer_missing_total", 10, 3); }},
    {"pause_frames", "now", kWarning, [](Facts& f) { count(f, "rdma_pfc_frames_total", 5000, 400); }},
    {"retries", "timeouts now", kWarning, [](Facts& f) { count(f, "rdma_port_ack_timeouts_total", 12, 5); }},
    {"retries", "a connection died once", kWarning,
     [](Facts& f) { count(f, "rdma_port_retries_exceeded_total", 1, 0); }},
    {"retries", "connections die", kCritical,
     [](Facts& f) { count(f, "rdma_port_retries_exceeded_total", 2, 1); }},
    {"link_errors", "now", kWarning, [](Facts& f) { count(f, "rdma_port_symbol_errors_total", 7, 1); }},
    {"pcie_errors", "a bad contact", kWarning,
     [](Facts& f) { count(f, "rdma_device_pcie_error_messages_total", 900, 50); }},
    {"health", "firmware", kCritical, [](Facts& f) { measure(f, "rdma_device_health_error", "fw_fatal", 1); },
     "the health reporter fw_fatal is in error"},
    {"health", "a queue", kCritical, [](Facts& f) { measure(f, "rdma_netdev_health_error", "tx", 1); }, "tx"},
    {"firmware_update", "burnt and not active", kWarning,
     [](Facts& f) { measure(f, "rdma_device_firmware_update_pending", "", 1); }, "fw.version"},
    {"module", "hot", kWarning,
     [](Facts& f) { measure(f, "rdma_netdev_module_temperature_celsius", "", 75.5); },
     "75.5 degrees Celsius, warning above 75.0"},
    {"module", "a dark lane", kWarning,
     [](Facts& f) { measure(f, "rdma_netdev_module_rx_power_watts", R"(lane="2")", 5e-5); },
     "lane 2 receives 0.05 mW, warning below 0.2"},
    {"module", "a dying laser", kWarning,
     [](Facts& f) { measure(f, "rdma_netdev_module_tx_power_watts", R"(lane="1")", 1e-4); }, "lane 1 sends"},
    {"pcie_errors", "a fatal one, once", kWarning,
     [](Facts& f) { count(f, "rdma_device_pcie_root_error_messages_total", 1, 0); }},
};

}  // namespace

const std::vector<CheckCase>& bad_cases() { return kBad; }

}  // namespace rdma_exporter::doctor
