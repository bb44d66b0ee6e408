// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Settings that differ between hosts or are missing.

// Series of `metric` whose value is not the most common one among their peers, with the value as label `name`. The most
// common one has a majority above one half, so that there is no tie: while two values are about equally common, as in a
// half-done roll-out, nobody is an outlier.
local outliers(metric, own, name, peers='%(peers)s') =
  local usual = |||
    (
      count_values by (%(peers)s) ("%(name)s", %(metric)s)
        >= on (%(peers)s) group_left () (%%(majority)s * count by (%(peers)s) (%(metric)s))
    )
  ||| % { metric: metric, name: name, peers: peers };
  |||
    count_values by (%(peers)s, %(own)s) ("%(name)s", %(metric)s)
    unless on (%(peers)s, %(name)s) %(usual)s
    and on (%(peers)s) %(usual)s
  ||| % { metric: metric, own: own, name: name, peers: peers, usual: std.rstripChars(usual, '\n') };

function(lib) lib.group('rdma-configuration', [
  lib.alert(
    'RdmaMtuMismatch',
    outliers('port:rdma_port_active_mtu_bytes:by_model', '%(host)s, device, port', 'mtu'),
    'An RDMA port has a different MTU from most of its model',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} uses an MTU of {{ $labels.mtu }} bytes; most
      ports of this adapter model ({{ $labels.vendor_id }}:{{ $labels.device_id }}) use a different one.
    |||,
  ),
  lib.alert(
    'RdmaPfcConfigMismatch',
    outliers('netdev_priority:rdma_dcb_pfc_enabled:by_model', '%(host)s, device, port, netdev', 'enabled', '%(peers)s, priority'),
    'PFC is configured differently from most adapters of the model',
    |||
      PFC of priority {{ $labels.priority }} is {{ if eq $labels.enabled "1" }}on{{ else }}off{{ end }} for
      {{ $labels.netdev }} ({{ $labels.device }} port {{ $labels.port }}) of {{ $labels.instance }}; most adapters of this model
      ({{ $labels.vendor_id }}:{{ $labels.device_id }}) have the opposite setting.
    |||,
  ),
  lib.alert(
    'RdmaNicMissing',
    outliers('instance:rdma_device_info:count', '%(instance)s', 'devices', '%(scope)s'),
    'A host has a different number of RDMA devices from the others',
    |||
      {{ $labels.instance }} has {{ $labels.devices }} RDMA devices; most hosts of job {{ $labels.job }} have a different number.
    |||,
  ),
  lib.alert(
    'RdmaFirmwareMismatch',
    |||
      count by (%(scope)s, vendor_id, device_id, board_id) (
        count by (%(scope)s, vendor_id, device_id, board_id, fw_version) (rdma_device_info{vendor_id!="",fw_version!=""})
      ) > 1
    |||,
    'Adapters of one model run different firmware',
    |||
      Adapters of model {{ with $labels.board_id }}{{ . }}, {{ end }}{{ $labels.vendor_id }}:{{ $labels.device_id }} in job {{ $labels.job }} run {{ $value }} different firmware versions.
    |||,
  ),
  lib.alert(
    'RdmaRoceV2GidMissing',
    |||
      rdma_port_gids{type="RoCE v2"} == 0
      and on (%(target)s, device, port) rdma_port_up == 1
    |||,
    'A RoCE port has no RoCE v2 GID',
    |||
      Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.instance }} is ACTIVE but has no RoCE v2 GID:
      no peer can connect to it by IP.
    |||,
  ),
  lib.alert(
    'RdmaConfigCheckFailed',
    'rdma_config_check{check!~"%(ignored)s"} >= %(level)s',
    'A configuration check of a host failed',
    |||
      Check {{ $labels.check }} on {{ $labels.instance }} reports {{ if eq $value 2.0 }}critical{{ else }}warning{{ end }}
      {{- with $labels.device }} for {{ . }}{{ end }}{{ with $labels.port }} port {{ . }}{{ end }}
      {{- with $labels.netdev }} ({{ . }}){{ end }}.
    |||,
  ),
])
