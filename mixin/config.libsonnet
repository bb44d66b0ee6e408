// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Every threshold, window and severity of the alerts, and the values at which the dashboards change colour: one place.
// Keys of an alert: severity, 'for' (how long it must hold), keep (how long it goes on when that is over), window (of rate and increase), threshold and whatever else
// its expression names. Durations are Prometheus durations. To change one, see docs/ALERTS.md; never edit alerts/*.yml.
//
// Where a threshold comes from:
//   S16   "RDMA over Commodity Ethernet at Scale" (SIGCOMM 2016): PFC storms, NIC watchdog at 100 ms, Pingmesh
//   M24   "RDMA over Ethernet for Distributed AI Training at Meta Scale" (SIGCOMM 2024): runs without DCQCN
//   NVS   NVIDIA NVSentinel, NIC monitor: state, flaps, retry counters
//   NVH   NVIDIA cluster health validation: a link that is down for 30 s ends a job
//   JNP   Juniper data centre guides: switch PFC watchdog 2 x 100 ms, ECN marking at half of the queue
//   CSC   Cisco lossless Ethernet: levels "pause seen", "loss in a lossless class", "sustained pause"
//   UFM   NVIDIA UFM default thresholds; IBD: error thresholds of infiniband-diags
//   MLX5  the mlx5 driver: what it calls stalled (30 % of a second), watchdog marks
//   802.3 IEEE 802.3: FEC limits
//   own   judgement, no source; start here and tune
{
  _config+:: {
    // Labels that say where a series is from. `cluster` may be absent from the series, or '' here: then all is one.
    labels: { cluster: 'cluster', job: 'job', instance: 'instance' },

    // Which series are ours to watch, in a Prometheus or ruler that several teams share: 'cluster="prod"'. Used where
    // nothing else tells: for the alert that there is no exporter at all.
    selector: '',
    // An exporter is known by rdma_exporter_build_info, whatever its job is called. Targets that never answered are
    // known by this only.
    exporterSelector: 'job=~"(.*/)?rdma([-_](exporter|metrics))?"',

    // Adapters of one model in one cluster are expected to be set alike. Add a label where hosts of one cluster have
    // roles that differ.
    peers: ['vendor_id', 'device_id'],

    // Where people can read alerts/runbooks: a Git server, a wiki, 'https://HOST/rdma_exporter/alerts/runbooks/%s.md'. As
    // it is, the path in the source and in the packages' examples. %s is the alert's name.
    runbookUrl: 'alerts/runbooks/%s.md',

    // What a port was within this time counts as what it should be. Range and resolution of a subquery: 7 days at full
    // resolution would be 40,000 samples per port and exceed Prometheus' query.max-samples on a few thousand ports.
    history: '7d:30m',
    // How long something that has vanished is missed.
    memory: '1d:10m',
    // How often that history is evaluated, and for how long a result holds: at least three times as long, so that two
    // evaluations may be missed before an alert is reset. It does not depend on the lookback of the server.
    historyInterval: '4m',
    historyHold: '15m',

    // No window of a rate or an increase is longer than ten minutes: as long as that, after a host's counters have settled,
    // alerts still speak of the time before, and a silence has to last.
    // Windows of the recording rules that alerts and dashboards share.
    windows: {
      pause: '2m',  // four scrapes at 30 s, two at a minute: a storm must not hide in an average
      rate: '5m',
      probe: '5m',
    },

    // --- What only dashboards go by: colours of panels that have no alert, places ---
    dashboards: {
      portUtilization: { warning: 0.80, critical: 0.95 },  // share of the line rate; own
      // The label of scrape targets that names a host's leaf or scalable unit, where there is one ('su'): the probe's
      // failures are then shown by leaf and rail first. A device's name is its rail.
      leaf: '',
    },

    alerts: {
      // --- PFC and pause: share of time (ratio) unless it says otherwise ---
      // Share of time of the root, and at least how many hosts of the job are paused by at least which share meanwhile. S16.
      RdmaPfcStorm: { severity: 'critical', 'for': '1m', threshold: 0.10, victims: 3, paused: 0.05 },
      // 10 %: the watchdog of S16 trips at a stall of 0.1 s, switches (JNP) at 0.2 s; this is 6 s of a minute.
      RdmaPfcStormTransmitted: { severity: 'warning', 'for': '3m', threshold: 0.10 },
      // CSC level 1, with a margin; incast and checkpoints last for minutes.
      RdmaPfcPausedHigh: { severity: 'warning', 'for': '15m', threshold: 0.05 },
      // Estimate from frames, for adapters without pause time; an upper bound, so it has to hold for longer.
      RdmaPfcPauseEstimateHigh: { severity: 'warning', 'for': '10m', threshold: 0.05 },
      RdmaNicPauseWatchdogWarning: { severity: 'warning', 'for': '2m', window: '5m', threshold: 0 },  // events; MLX5
      // It goes on so that it explains what is lost while the adapter comes back.
      RdmaNicFatal: { severity: 'critical', 'for': '30s', keep: '30m', window: '5m', threshold: 0 },  // events; MLX5
      RdmaGlobalPauseOnRocePort: { severity: 'warning', 'for': '10m', window: '10m', threshold: 0 },  // frames; 802.3
      // Packets; CSC level 2.
      RdmaLosslessPriorityDrops: { severity: 'critical', 'for': '5m', window: '5m', threshold: 0 },
      // Share of the peers that agree, from which on those that do not are outliers: not while a roll-out is half done. S16.
      RdmaPfcConfigMismatch: { severity: 'warning', 'for': '30m', majority: 0.80 },

      // --- ECN ---
      // Share of received packets; floor in packets per second. Switches mark early on purpose (JNP).
      RdmaEcnMarkedHigh: { severity: 'info', 'for': '15m', threshold: 0.05, floor: 1000 },
      RdmaCnpIgnored: { severity: 'warning', 'for': '10m', window: '5m', threshold: 1 },  // packets/s; own

      // --- Loss ---
      // Share of received packets; floor in packets per second. Load balancing that reorders reaches it without loss.
      RdmaOutOfSequence: { severity: 'warning', 'for': '10m', threshold: 1e-5, floor: 1 },  // JNP
      RdmaSequenceNaks: { severity: 'warning', 'for': '10m', window: '5m', threshold: 1 },  // per second; own
      RdmaAckTimeouts: { severity: 'warning', 'for': '10m', window: '5m', threshold: 1 },  // per second; NVS
      // Share of the hosts of a job, and how many at least, that lose connections. Own.
      RdmaConnectionsDying: { severity: 'critical', 'for': '12m', window: '5m', threshold: 0.05, hosts: 5 },
      // Events; for longer than the window, because a job that ends kills all its connections, once. Own.
      RdmaRetriesExceeded: { severity: 'warning', 'for': '15m', window: '5m', threshold: 0 },

      // --- Receiver, host, software ---
      // NAKs/s; recoverable; own.
      RdmaReceiverNotReady: { severity: 'warning', 'for': '10m', window: '5m', threshold: 10 },
      RdmaNicReceiveDiscards: { severity: 'warning', 'for': '10m', window: '5m', threshold: 10 },  // packets/s; own
      RdmaAccessErrors: { severity: 'warning', 'for': '10m', window: '5m', threshold: 0 },  // events; for longer than the window, as above
      // Completions without flushed ones.
      RdmaCqeErrors: { severity: 'warning', 'for': '15m', window: '5m', threshold: 0.5 },  // longer than a job's end
      RdmaTemperatureHigh: { severity: 'warning', 'for': '10m', margin: 5 },  // degrees below what the sensor calls critical; own
      // Share of seconds; MLX5.
      RdmaPcieBackpressure: { severity: 'warning', 'for': '15m', window: '5m', threshold: 0.10 },
      RdmaPcieBufferOverflow: { severity: 'warning', 'for': '10m', window: '5m', threshold: 0 },  // packets; longer than a job takes to start
      RdmaPcieDegraded: { severity: 'warning', 'for': '15m' },

      // --- Device, port, link ---
      // NVS. Share of the hosts, and how many at least, that lacked a device of that name half an hour ago: more is how a
      // cluster works that moves devices into pods. Own.
      RdmaDeviceLost: { severity: 'warning', 'for': '5m', threshold: 0.05, hosts: 5 },
      // Share of the ports of a rail (equal device names), and how many at least. Own.
      RdmaPortsDown: { severity: 'critical', 'for': '1m', threshold: 0.05, ports: 4 },
      RdmaPortDown: { severity: 'warning', 'for': '3m' },  // NVH has 30 s
      // Three times in 10 min; NVS.
      RdmaLinkFlapping: { severity: 'warning', 'for': '30s', window: '10m', threshold: 2.5 },
      RdmaPortSpeedDegraded: { severity: 'warning', 'for': '5m' },
      RdmaLinkErrorRecovery: { severity: 'warning', 'for': '5m', window: '5m', threshold: 5 },  // per minute; NVS
      RdmaSymbolErrors: { severity: 'warning', 'for': '10m', window: '5m', threshold: 10, infiniband: 120 },  // per second, NVS; per hour on InfiniBand, IBTA (1e-12)
      // Blocks; 802.3: must be 0. For longer than the window: one block now and then is on every fleet.
      RdmaFecUncorrectable: { severity: 'warning', 'for': '15m', window: '10m', threshold: 0 },
      // Bit error rate before correction. Half of the limit of RS-544 (2.4e-4, PAM4); 802.3. RS-528 (25G lanes)
      // has 2e-5, and RdmaFecUncorrectable.
      RdmaPreFecBerHigh: { severity: 'warning', 'for': '15m', window: '5m', threshold: 1.2e-4 },
      // Ticks per second of a port against the median of its model, for a tick has no known length; floor; own. InfiniBand.
      RdmaTransmitWaitHigh: { severity: 'warning', 'for': '15m', window: '5m', factor: 10, floor: 1e6 },
      RdmaReceiveErrors: { severity: 'warning', 'for': '5m', window: '5m', threshold: 10 },  // packets/s; IBD
      // Packets/s; UFM has 200.
      RdmaTransmitDiscards: { severity: 'warning', 'for': '5m', window: '5m', threshold: 100 },

      // --- Configuration ---
      RdmaMtuMismatch: { severity: 'warning', 'for': '30m', majority: 0.80 },  // as RdmaPfcConfigMismatch
      RdmaNicMissing: { severity: 'warning', 'for': '30m', majority: 0.80 },  // as RdmaPfcConfigMismatch
      RdmaFirmwareMismatch: { severity: 'info', 'for': '1d' },
      RdmaRoceV2GidMissing: { severity: 'warning', 'for': '10m' },
      // `ignored` checks say what a host is rather than what somebody set: on a thousand hosts with one kernel they
      // would be a thousand alerts with one answer. The dashboards and the doctor show them.
      // 2 is critical; warnings are many where PFC is not meant to be on.
      RdmaConfigCheckFailed: { severity: 'info', 'for': '15m', level: 2, ignored: 'kernel_hazards' },

      // --- Resources ---
      RdmaResourceExhaustion: { severity: 'warning', 'for': '15m', threshold: 0.80 },  // share of the limit; own
      RdmaQpErrorState: { severity: 'warning', 'for': '10m', threshold: 0 },  // queue pairs

      // --- Probe ---
      RdmaProbeFailing: { severity: 'warning', 'for': '5m', threshold: 0.50 },  // share of attempts to a target; own
      RdmaProbeLoss: { severity: 'warning', 'for': '10m', threshold: 0.01 },  // share of attempts to a target; S16
      // 99th percentile against the median of the job's medians; floor in seconds.
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
      // bnxt_re repeats old values after one failed firmware query; floor in packets per second of the lossless priorities.
      RdmaCountersFrozen: { severity: 'warning', 'for': '30m', window: '10m', floor: 100 },
    },
  },
}
