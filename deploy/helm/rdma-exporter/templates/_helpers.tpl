{{- define "rdma-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "rdma-exporter.fullname" -}}
{{- $name := include "rdma-exporter.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "rdma-exporter.selector" -}}
app.kubernetes.io/name: {{ include "rdma-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rdma-exporter.labels" -}}
{{ include "rdma-exporter.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "rdma-exporter.serviceAccountName" -}}
{{- $account := .Values.serviceAccount -}}
{{- $account.name | default (ternary (include "rdma-exporter.fullname" .) "default" $account.create) -}}
{{- end }}

{{- define "rdma-exporter.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* What both monitors say of a scrape. The host is a better name of an instance than the pod, which changes. */ -}}
{{- define "rdma-exporter.endpoint" -}}
port: metrics
interval: {{ .interval }}
scrapeTimeout: {{ .scrapeTimeout }}
scheme: {{ .scheme }}
{{- with .tlsConfig }}
tlsConfig: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .basicAuth }}
basicAuth: {{- toYaml . | nindent 2 }}
{{- end }}
relabelings:
  - sourceLabels: [__meta_kubernetes_pod_node_name]
    targetLabel: instance
  {{- with .relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .metricRelabelings }}
metricRelabelings: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A security context whose keys a value replaces, each as a whole; null takes one away: (list CONTEXT VALUE). */ -}}
{{- define "rdma-exporter.replaced" -}}
{{- $context := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $context $key -}}
{{- else -}}
{{- $_ := set $context $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $context -}}
{{- end }}

{{- /* What docs/OPERATIONS.md adds up under "Memory", with the settings of `config`; half as much again for room, in steps
of 64 MiB. */ -}}
{{- define "rdma-exporter.memoryLimit" -}}
{{- $config := .Values.config | default dict -}}
{{- $page := dig "limits" "page_bytes" 67108864 $config | int64 | mul 3 -}}
{{- $inFlight := dig "limits" "pages_in_flight_bytes" 67108864 $config | int64 -}}
{{- $connections := dig "web" "max_connections" 128 $config | int64 | mul 130000 -}}
{{- $step := 67108864 -}}
{{- $most := add 67108864 $page $inFlight $connections | mul 3 -}}
{{- printf "%dMi" (div (add (div $most 2) $step -1) $step | mul 64) -}}
{{- end }}

{{- /* How the kubelet looks whether the path answers: who needs a password or a certificate is only connected to. */ -}}
{{- define "rdma-exporter.check" -}}
{{- if (index . 0).Values.webConfigSecret -}}
tcpSocket: {port: metrics}
{{- else -}}
httpGet: {path: {{ index . 1 }}, port: metrics}
{{- end -}}
{{- end }}

{{- /* Not empty: with the probe. */ -}}
{{- define "rdma-exporter.probing" -}}
{{- if or .Values.probe.enabled .Values.probe.mesh.enabled -}}true{{- end -}}
{{- end }}

{{- /* Not empty: the chart makes the secret of the mesh, of this name. */ -}}
{{- define "rdma-exporter.madeSecret" -}}
{{- if and .Values.probe.mesh.enabled (not (or .Values.probe.pskSecret .Values.probe.certificateSecret)) -}}
{{- if not (dig "probe" "insecure" false (.Values.config | default dict)) -}}
{{- include "rdma-exporter.fullname" . }}-probe
{{- end -}}
{{- end -}}
{{- end }}

{{- /* The secret by which the peers of the probe know each other; nothing without the probe. */ -}}
{{- define "rdma-exporter.probeSecret" -}}
{{- $probe := .Values.probe -}}
{{- if include "rdma-exporter.probing" . -}}
{{- if and $probe.pskSecret $probe.certificateSecret -}}
{{- fail "probe: set pskSecret or certificateSecret, not both" -}}
{{- end -}}
{{- if eq $probe.port .Values.port -}}
{{- fail "probe.port is the port of the metrics" -}}
{{- end -}}
{{- if and $probe.deviceResource (not (or .Values.nodeSelector .Values.affinity)) -}}
{{- fail "probe.deviceResource: the pod would stay Pending on nodes without it; say which have it in nodeSelector or affinity" -}}
{{- end -}}
{{- $secret := $probe.pskSecret | default $probe.certificateSecret | default (include "rdma-exporter.madeSecret" .) -}}
{{- if not (or $secret (dig "probe" "insecure" false (.Values.config | default dict))) -}}
{{- fail "probe: peers have to know each other: set pskSecret or certificateSecret, or config.probe.insecure: true" -}}
{{- end -}}
{{- $secret -}}
{{- end -}}
{{- end }}

{{- /* The text of a file of rules or dashboards, with the value `mixin` in place of its marks: (list $ PATH). */ -}}
{{- define "rdma-exporter.mixin" -}}
{{- $root := index . 0 -}}
{{- $text := $root.Files.Get (index . 1) -}}
{{- $defaults := $root.Files.Get "files/defaults.json" | default "{}" | fromJson -}}
{{- range $name, $alert := $root.Values.mixin.alerts -}}
{{- $known := index (default dict $defaults.alerts) $name | required (printf "mixin.alerts: there is no alert %s" $name) -}}
{{- range $key, $_ := $alert -}}
{{- if not (hasKey $known $key) -}}{{- fail (printf "mixin.alerts.%s has no %s" $name $key) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $all := mergeOverwrite $defaults (deepCopy $root.Values.mixin) -}}
{{- range $name, $alert := $all.alerts -}}
{{- range $key, $value := $alert -}}
{{- $text = $text | replace (printf "@alerts.%s.%s@" $name $key) (toString $value) -}}
{{- end -}}
{{- if $all.runbookUrl -}}
{{- $text = $text | replace (printf "@runbookUrl@%s@" $name) ($all.runbookUrl | replace "%s" $name) -}}
{{- end -}}
{{- end -}}
{{- range $label, $name := $all.labels -}}
{{- $text = $text | replace (printf "@labels.%s@" $label) $name -}}
{{- end -}}
{{- $text = $text | replace "@selector@" (toString $all.selector) | replace "@exporterSelector@" (toString $all.exporterSelector) -}}
{{- $text -}}
{{- end }}
