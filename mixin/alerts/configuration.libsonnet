// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Settings that differ between hosts or are missing.
function(lib) lib.group('rdma-configuration', [
  lib.alert(
    'RdmaMtuMismatch',
    |||
      (rdma_port_active_mtu_bytes and rdma_port_up == 1)
        != on (%(peers)s) group_left quantile by (%(peers)s) (0.5, rdma_port_active_mtu_bytes and rdma_port_up == 1)
    |||,
    'An RDMA port has another MTU than the same port of other hosts',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} uses an MTU of {{ $value }} bytes; most
      other hosts of job {{ $labels.job }} use another.
    |||,
  ),
  lib.alert(
    'RdmaPfcConfigMismatch',
    |||
      rdma_dcb_pfc_enabled
        != on (%(netdevPeers)s, priority) group_left quantile by (%(netdevPeers)s, priority) (0.5, rdma_dcb_pfc_enabled)
    |||,
    'PFC is not configured as on other hosts',
    |||
      PFC of priority {{ $labels.priority }} is {{ if eq $value 1.0 }}on{{ else }}off{{ end }} for
      {{ $labels.netdev }} of
      {{ $labels.instance }}; most other hosts of job {{ $labels.job }} have it the other way%(devices)s.
    ||| % { devices: lib.devicesOfNetdev },
  ),
  lib.alert(
    'RdmaFirmwareMismatch',
    |||
      count by (job, board_id) (count by (job, board_id, fw_version) (rdma_device_info{board_id!=""})) > 1
    |||,
    'Adapters of one model run different firmware',
    |||
      Adapters of model {{ $labels.board_id }} in job {{ $labels.job }} have {{ $value }} firmware versions.
    |||,
  ),
  lib.alert(
    'RdmaRoceV2GidMissing',
    |||
      rdma_port_gids{type="RoCE v2"} == 0
      and on (job, instance, device, port) rdma_port_up == 1
    |||,
    'A RoCE port has no address',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} is ACTIVE but has no RoCE v2 GID:
      nobody can
      connect to it by IP.
    |||,
  ),
  lib.alert(
    'RdmaConfigCheckFailed',
    'rdma_config_check{check!~"%(ignored)s"} >= 1',
    'A configuration check of the host failed',
    |||
      Check {{ $labels.check }} of {{ $labels.instance }} says {{ if eq $value 2.0 }}critical{{ else }}warning{{ end }}
      {{- with $labels.device }} for {{ . }}{{ end }}{{ with $labels.port }} port {{ . }}{{ end }}
      {{- with $labels.netdev }} ({{ . }}){{ end }}.
    |||,
  ),
])
