// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Thresholds, windows and severities of all alerts, and the values at which dashboards change colour.
// Keys of an alert: severity; 'for' (how long the condition must hold before the alert fires); keep (how long it
// keeps firing afterwards); window (range of rate and increase); threshold; and whatever else its expression uses.
// Durations are Prometheus durations. To change one, see docs/ALERTS.md; never edit alerts/*.yml.
//
// Sources of the thresholds:
//   S16   "RDMA over Commodity Ethernet at Scale" (SIGCOMM 2016): PFC storms, NIC watchdog at 100 ms, Pingmesh
//   M24   "RDMA over Ethernet for Distributed AI Training at Meta Scale" (SIGCOMM 2024): runs without DCQCN
//   NVS   NVIDIA NVSentinel, NIC monitor: state, flaps, retry counters
//   NVH   NVIDIA cluster health validation: a link that is down for 30 s ends a job
//   JNP   Juniper data centre guides: switch PFC watchdog 2 x 100 ms, ECN marking when the queue is half full
//   CSC   Cisco lossless Ethernet: levels "pause seen", "loss in a lossless class", "sustained pause"
//   UFM   NVIDIA UFM default thresholds; IBD: error thresholds of infiniband-diags
//   MLX5  the mlx5 driver: its definition of stalled (30 % of a second), its watchdog events
//   802.3 IEEE 802.3: FEC limits
//   own   our judgement, without a source; start here and tune
{
  _config+:: {
    // Names of the labels that identify a series' origin. Series may lack `cluster`, or it may be '' here: then
    // everything counts as one cluster.
    labels: { cluster: 'cluster', job: 'job', instance: 'instance' },

    // Selects our series in a Prometheus or ruler that several teams share: 'cluster="prod"'. Used only where no
    // other label selects them, that is, in the alert that no exporter exists.
    selector: '',
    // Exporters are recognised by rdma_exporter_build_info, whatever their job is called. Only targets that have
    // never answered are recognised by this selector.
    exporterSelector: 'job=~"(.*/)?rdma([-_](exporter|metrics))?"',

    // Adapters of the same model in the same cluster are expected to have the same settings. Add a label if the hosts
    // of a cluster have different roles.
    peers: ['vendor_id', 'device_id'],

    // Where people read alerts/runbooks: a Git server, a wiki, 'https://HOST/rdma_exporter/alerts/runbooks/%s.md'.
    // The default is the path in the source tree and among the packages' examples. %s is the name of the alert.
    runbookUrl: 'alerts/runbooks/%s.md',

    // The best state of a port within this time is the state it should have. Range and resolution of a subquery: 7
    // days at full resolution would be 40,000 samples per port and exceed Prometheus' query.max-samples on a few
    // thousand ports.
    history: '7d:30m',
    // How long an alert about something that has vanished keeps firing.
    memory: '1d:10m',
    // How often the history is evaluated, and how long a result stays valid: at least three times as long, so that an
    // alert survives two missed evaluations. This does not depend on the server's lookback.
    historyInterval: '4m',
    historyHold: '15m',

    // No rate or increase has a window of more than ten minutes, because alerts still reflect the time before a
    // repair for that long, and a silence has to cover it.
    // Windows of the recording rules that alerts and dashboards share.
    windows: {
      pause: '2m',  // four scrapes at 30 s, two at a minute: a storm must not hide in an average
      rate: '5m',
      probe: '5m',
    },

    // How failing probes are attributed (docs/PROBE.md simulates these values). failing: share of a path's operations
    // that must fail for the path to count as failing, 10 % as in R-Pingmesh (SIGCOMM 2024). losing: the same for
    // suspected retransmissions; 2 % are 1 % of lost packets, as each probe consists of two operations. share: share of
    // the paths of an adapter or target that must fail for it to be blamed, and paths: how many paths must have been
    // probed at least. nics, rail: how many adapters of a rail, and which share of them, must be affected before the
    // fabric is blamed.
    votes: { failing: 0.10, losing: 0.02, share: 0.60, paths: 3, nics: 4, rail: 0.05 },

    // --- Only for dashboards: colours of panels without an alert, names of labels ---
    dashboards: {
      portUtilization: { warning: 0.80, critical: 0.95 },  // share of the line rate; own
      // The label of scrape targets that names a host's leaf or scalable unit ('su'), if there is one: dashboards
      // then show failing probes by leaf and rail first. The name of a device is its rail.
      leaf: '',
    },

    alerts: {
      // --- PFC and pause; thresholds are a share of time unless noted ---
      // threshold: share of time that the root pauses others; victims, paused: how many hosts of the job are paused
      // meanwhile, and for which share of time. S16.
      RdmaPfcStorm: { severity: 'critical', 'for': '1m', threshold: 0.10, victims: 3, paused: 0.05 },
      // 10 % is 6 s of each minute. The watchdog of S16 trips after a stall of 0.1 s, switches (JNP) after 0.2 s.
      RdmaPfcStormTransmitted: { severity: 'warning', 'for': '3m', threshold: 0.10 },
      // CSC level 1, with a margin: incast and checkpoints last for minutes.
      RdmaPfcPausedHigh: { severity: 'warning', 'for': '15m', threshold: 0.05 },
      // An estimate from frames for adapters without pause time. It is an upper bound, so it has to hold for longer.
      RdmaPfcPauseEstimateHigh: { severity: 'warning', 'for': '10m', threshold: 0.05 },
      RdmaNicPauseWatchdogWarning: { severity: 'warning', 'for': '2m', window: '5m', threshold: 0 },  // events; MLX5
      // It keeps firing so that it explains the loss while the adapter recovers.
      RdmaNicFatal: { severity: 'critical', 'for': '30s', keep: '30m', window: '5m', threshold: 0 },  // events; MLX5
      RdmaGlobalPauseOnRocePort: { severity: 'warning', 'for': '10m', window: '10m', threshold: 0 },  // frames; 802.3
      // Packets; CSC level 2.
      RdmaLosslessPriorityDrops: { severity: 'critical', 'for': '5m', window: '5m', threshold: 0 },
      // majority: share of the peers that must agree before the others count as outliers, so that a rollout that is
      // half done raises no alert. S16.
      RdmaPfcConfigMismatch: { severity: 'warning', 'for': '30m', majority: 0.80 },

      // --- ECN ---
      // threshold: share of received packets; floor: packets per second. Switches mark early on purpose (JNP).
      RdmaEcnMarkedHigh: { severity: 'info', 'for': '15m', threshold: 0.05, floor: 1000 },
      RdmaCnpIgnored: { severity: 'warning', 'for': '10m', window: '5m', threshold: 1 },  // packets/s; own

      // --- Loss ---
      // threshold: share of received packets; floor: packets per second. Load balancing that reorders packets can
      // reach it without loss.
      RdmaOutOfSequence: { severity: 'warning', 'for': '10m', threshold: 1e-5, floor: 1 },  // JNP
      RdmaSequenceNaks: { severity: 'warning', 'for': '10m', window: '5m', threshold: 1 },  // per second; own
      RdmaAckTimeouts: { severity: 'warning', 'for': '10m', window: '5m', threshold: 1 },  // per second; NVS
      // threshold: share of the hosts of a job that lose connections; hosts: how many at least. Own.
      RdmaConnectionsDying: { severity: 'critical', 'for': '12m', window: '5m', threshold: 0.05, hosts: 5 },
      // Events. 'for' is longer than the window, because a job that ends kills all its connections once. Own.
      RdmaRetriesExceeded: { severity: 'warning', 'for': '15m', window: '5m', threshold: 0 },

      // --- Receiver, host, software ---
      // NAKs/s; the transport recovers from them; own.
      RdmaReceiverNotReady: { severity: 'warning', 'for': '10m', window: '5m', threshold: 10 },
      RdmaNicReceiveDiscards: { severity: 'warning', 'for': '10m', window: '5m', threshold: 10 },  // packets/s; own
      RdmaAccessErrors: { severity: 'warning', 'for': '10m', window: '5m', threshold: 0 },  // events; for longer than the window, as above
      // Error completions, without flushed ones.
      RdmaCqeErrors: { severity: 'warning', 'for': '15m', window: '5m', threshold: 0.5 },  // longer than a job's end
      RdmaTemperatureHigh: { severity: 'warning', 'for': '10m', margin: 5 },  // degrees below what the sensor calls critical; own
      // Share of seconds; MLX5.
      RdmaPcieBackpressure: { severity: 'warning', 'for': '15m', window: '5m', threshold: 0.10 },
      RdmaPcieBufferOverflow: { severity: 'warning', 'for': '10m', window: '5m', threshold: 0 },  // packets; longer than a job takes to start
      RdmaPcieDegraded: { severity: 'warning', 'for': '15m' },

      // --- Device, port, link ---
      // NVS. threshold, hosts: if more than this share of the hosts, and at least so many, lacked a device of that
      // name half an hour ago, the cluster moves devices into pods, and the alert stays silent. Own.
      RdmaDeviceLost: { severity: 'warning', 'for': '5m', threshold: 0.05, hosts: 5 },
      // threshold: share of the ports of a rail (devices of the same name); ports: how many at least. Own.
      RdmaPortsDown: { severity: 'critical', 'for': '1m', threshold: 0.05, ports: 4 },
      RdmaPortDown: { severity: 'warning', 'for': '3m' },  // NVH has 30 s
      // Three times in 10 min; NVS.
      RdmaLinkFlapping: { severity: 'warning', 'for': '30s', window: '10m', threshold: 2.5 },
      RdmaPortSpeedDegraded: { severity: 'warning', 'for': '5m' },
      RdmaLinkErrorRecovery: { severity: 'warning', 'for': '5m', window: '5m', threshold: 5 },  // per minute; NVS
      RdmaSymbolErrors: { severity: 'warning', 'for': '10m', window: '5m', threshold: 10, infiniband: 120 },  // per second, NVS; per hour on InfiniBand, IBTA (1e-12)
      // Blocks; own: below the bit error rate of RdmaPreFecBerHigh, random errors cost at most one in seven hours. 'for' is
      // longer than the window: every fleet has an occasional block.
      RdmaFecUncorrectable: { severity: 'warning', 'for': '15m', window: '10m', threshold: 0 },
      // share: of the bit error rate before correction that a link with the code in use may have (802.3, clauses 95 and
      // 136); half is our own. threshold: where the code is unknown, half of the limit of RS-544 (2.4e-4, PAM4).
      RdmaPreFecBerHigh: { severity: 'warning', 'for': '15m', window: '5m', share: 0.5, threshold: 1.2e-4 },
      // Degrees, volts, amperes and watts: the module's own warning thresholds, by SFF-8472, SFF-8636 and CMIS.
      RdmaModuleTemperatureHigh: { severity: 'warning', 'for': '10m' },
      RdmaModuleVoltageOutOfRange: { severity: 'warning', 'for': '10m' },
      RdmaModuleBiasOutOfRange: { severity: 'warning', 'for': '10m' },
      RdmaModulePowerLow: { severity: 'warning', 'for': '10m' },
      RdmaModulePowerHigh: { severity: 'warning', 'for': '10m' },
      RdmaModuleLaneImbalance: { severity: 'warning', 'for': '30m', factor: 2 },  // 3 dB; own
      RdmaNeighborChanged: { severity: 'info', 'for': '3m' },  // own; an LLDP frame comes every 30 s
      RdmaNeighborShared: { severity: 'warning', 'for': '5m' },  // own
      // majority, ports: a switch is the leaf of a rail if this share of its ports, and at least so many, connect to
      // devices of the same name. Own.
      RdmaRailOnWrongLeaf: { severity: 'warning', 'for': '10m', majority: 0.80, ports: 5 },
      // Ticks per second of a port relative to the median of its model, because the length of a tick is unknown;
      // floor in ticks per second; own. InfiniBand.
      RdmaTransmitWaitHigh: { severity: 'warning', 'for': '15m', window: '5m', factor: 10, floor: 1e6 },
      RdmaReceiveErrors: { severity: 'warning', 'for': '5m', window: '5m', threshold: 10 },  // packets/s; IBD
      // Packets/s; UFM has 200.
      RdmaTransmitDiscards: { severity: 'warning', 'for': '5m', window: '5m', threshold: 100 },

      // --- Adapter: PCIe, firmware ---
      // Messages; a nonfatal one is a lost transaction, a fatal one an unreliable link: PCI/pcieaer-howto of the kernel.
      RdmaPcieUncorrectable: { severity: 'warning', 'for': '30s', window: '10m', threshold: 0 },
      // Per second. A link of 16 lanes at 16 GT/s may have 0.26 bit errors per second (1e-12 per lane, PCIe); own.
      RdmaPcieCorrectableHigh: { severity: 'warning', 'for': '10m', window: '5m', threshold: 0.1 },
      RdmaFirmwareFault: { severity: 'warning', 'for': '30s', window: '10m', threshold: 0 },  // errors that the driver reports; own
      RdmaQueueRecoveries: { severity: 'warning', 'for': '30s', window: '10m', threshold: 3 },  // errors; own
      RdmaFirmwareUpdatePending: { severity: 'info', 'for': '7d' },  // own

      // --- Configuration ---
      RdmaMtuMismatch: { severity: 'warning', 'for': '30m', majority: 0.80 },  // as RdmaPfcConfigMismatch
      RdmaNicMissing: { severity: 'warning', 'for': '30m', majority: 0.80 },  // as RdmaPfcConfigMismatch
      RdmaFirmwareMismatch: { severity: 'info', 'for': '1d' },
      RdmaRoceV2GidMissing: { severity: 'warning', 'for': '10m' },
      // `ignored` lists checks that describe the host rather than its settings: a thousand hosts with the same kernel
      // would raise a thousand alerts with the same answer. Dashboards and `doctor` show them.
      // level 2 is critical; warnings would be too many where PFC is off on purpose.
      RdmaConfigCheckFailed: { severity: 'info', 'for': '15m', level: 2, ignored: 'kernel_hazards' },

      // --- Resources ---
      RdmaResourceExhaustion: { severity: 'warning', 'for': '15m', threshold: 0.80 },  // share of the limit; own
      RdmaQpErrorState: { severity: 'warning', 'for': '10m', threshold: 0 },  // queue pairs

      // --- Probe ---
      RdmaProbeFailing: { severity: 'warning', 'for': '5m', threshold: 0.50 },  // share of attempts to a target; own
      RdmaProbeLoss: { severity: 'warning', 'for': '10m', threshold: 0.01 },  // share of attempts to a target; S16
      // Share of a target's probes that are not sent because the control connection fails; own.
      RdmaProbeControlFailing: { severity: 'warning', 'for': '10m', threshold: 0.50 },
      RdmaProbeNicFailing: { severity: 'warning', 'for': '5m' },
      RdmaProbeTargetFailing: { severity: 'warning', 'for': '4m' },
      RdmaProbeFabricFailing: { severity: 'warning', 'for': '3m' },
      RdmaProbePathFailing: { severity: 'info', 'for': '15m' },
      RdmaProbeTargetsDropped: { severity: 'info', 'for': '15m' },
      // 99th percentile relative to the median of the job's medians; floor in seconds.
      RdmaProbeLatencyHigh: { severity: 'info', 'for': '15m', factor: 5, floor: 2e-5 },

      // --- Exporter ---
      // Share of the hosts of a job, and how many at least; own.
      RdmaExportersDown: { severity: 'critical', 'for': '10m', threshold: 0.05, hosts: 3 },
      RdmaExporterDown: { severity: 'warning', 'for': '30m' },
      RdmaExporterAbsent: { severity: 'warning', 'for': '10m' },
      RdmaExporterCollectorFailed: { severity: 'warning', 'for': '10m' },
      RdmaExporterSeriesDropped: { severity: 'warning', 'for': '5m', window: '10m', threshold: 0 },  // series
      RdmaExporterReloadFailed: { severity: 'warning', 'for': '15m' },
      RdmaExporterReplay: { severity: 'warning', 'for': '10m' },  // a recording instead of this host
      RdmaExporterPrivilegeMissing: { severity: 'info', 'for': '1h' },
      RdmaCounterSaturated: { severity: 'info', 'for': '10m' },
      // bnxt_re repeats old values after one failed firmware query; floor in packets per second of the lossless
      // priorities.
      RdmaCountersFrozen: { severity: 'warning', 'for': '30m', window: '10m', floor: 100 },
    },
  },
}
