{{/* tenure.settings: those of the agent, by their names in docs/configuration.md. */}}
{{- define "tenure.settings" -}}
{{- $store := .values.store -}}
{{- $all := dict "store" $store.kind "election" .election "ttl" .values.ttl "drain" .values.drain
    "log_format" .values.log.format -}}
{{- if ne .values.stopSignal "TERM" -}}{{- $_ := set $all "stop_signal" .values.stopSignal -}}{{- end -}}
{{- if ne .values.log.level "info" -}}{{- $_ := set $all "log_level" .values.log.level -}}{{- end -}}
{{- if gt (int .values.slots) 1 -}}{{- $_ := set $all "slots" .values.slots -}}{{- end -}}
{{- if ne (int .values.probePort) 8081 -}}
{{- $_ := set $all "probe_listen" (printf "0.0.0.0:%d" (int .values.probePort)) -}}
{{- end -}}
{{- if and (eq $store.kind "etcd") (gt (int .values.peerPort) 0) -}}
{{- $_ := set $all "peer_listen" (printf "0.0.0.0:%d" (int .values.peerPort)) -}}
{{- end -}}
{{- if .values.events -}}{{- $_ := set $all "events" true -}}{{- end -}}
{{- if not (has .way (list "none" "probe")) -}}{{- $_ := set $all "traffic" .way -}}{{- end -}}
{{- if eq .way "endpoints" -}}
{{- $slices := include "tenure.slices" . | fromYamlArray -}}
{{- if ne (join "," $slices) .election -}}{{- $_ := set $all "traffic_slice" $slices -}}{{- end -}}
{{- end -}}
{{- if eq $store.kind "kubernetes" -}}
{{- if eq .values.rbac.leases "named" -}}{{- $_ := set $all "unlisted" true -}}{{- end -}}
{{- else -}}
{{- $_ := set $all "endpoint" $store.endpoints -}}
{{- end -}}
{{- $tls := $store.tls -}}
{{- if $tls.secretName -}}
{{- if $tls.caKey -}}{{- $_ := set $all "ca_file" "/etc/tenure/store/ca.crt" -}}{{- end -}}
{{- if $tls.certificateKey -}}
{{- $_ := set $all "certificate_file" "/etc/tenure/store/tls.crt" -}}
{{- $_ = set $all "key_file" "/etc/tenure/store/tls.key" -}}
{{- end -}}
{{- end -}}
{{- if $tls.serverName -}}{{- $_ := set $all "server_name" $tls.serverName -}}{{- end -}}
{{- if $store.user -}}
{{- $_ := set $all "user" $store.user -}}
{{- $_ = set $all "password_file" "/etc/tenure/store/password" -}}
{{- end -}}
{{- if $store.tokenSecret.name -}}{{- $_ := set $all "token_file" "/etc/tenure/store/token" -}}{{- end -}}
{{- range $key, $value := .values.settings -}}
{{- if hasKey $all $key -}}
{{- fail (printf "tenure.settings.%s: another value of the chart says this already" $key) -}}
{{- end -}}
{{- $_ := set $all $key $value -}}
{{- end -}}
{{- /* Helm reads `off` as false. */ -}}
{{- if eq (get $all "runtime_dir" | toString) "false" -}}{{- $_ := set $all "runtime_dir" "off" -}}{{- end -}}
{{- if not (hasKey $all "runtime_dir") -}}{{- $_ := set $all "runtime_dir" "/run/tenure/agent" -}}{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/*
tenure.env: the settings as variables. They are part of the pod, and not in a ConfigMap: so a pod keeps the settings that it
was made with, also if its agent is started again in the middle of a roll-out, and an undone roll-out has the old ones.
*/}}
{{- define "tenure.env" -}}
{{- range $key, $value := .settings }}
{{- $words := list }}
{{- range kindIs "slice" $value | ternary $value (list $value) }}
{{- $words = append $words (include "tenure.text" .) }}
{{- end }}
- name: TENURE_{{ upper $key }}
  value: {{ join "," $words | quote }}
{{- end }}
- {name: TENURE_POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: TENURE_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
- {name: TENURE_POD_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: TENURE_POD_ADDRESS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}
{{- end -}}

{{- define "tenure.image" -}}
{{- $image := .values.image -}}
{{- include "tenure.image_name" (list $image.repository ($image.tag | default .root.Subcharts.tenure.Chart.AppVersion) $image.digest) -}}
{{- end -}}

{{/* tenure.image_name (list REPOSITORY TAG DIGEST): `--set image.tag=7` is a number. */}}
{{- define "tenure.image_name" -}}
{{ index . 0 }}{{ if index . 2 }}@{{ index . 2 }}{{ else }}:{{ include "tenure.text" (index . 1) }}{{ end }}
{{- end -}}

{{/* tenure.security: what Pod Security "restricted" asks of a container, and the user of the main container. */}}
{{- define "tenure.security" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
{{- $own := (index .workload.spec.template.spec.containers (int .place)).securityContext | default dict }}
{{- range $key := list "runAsUser" "runAsGroup" }}
{{- if hasKey $own $key }}
{{ $key }}: {{ get $own $key | int64 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "tenure.installer" -}}
name: tenure-install
image: {{ include "tenure.image" . }}
{{- with .values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
args: [install, /tenure-bin]
securityContext:
  {{- include "tenure.security" . | nindent 2 }}
volumeMounts:
  - {name: tenure-bin, mountPath: /tenure-bin}
{{- end -}}

{{/* tenure.startup_probe: a standby is alive, too; with `exit-code` it holds the main container back. */}}
{{- define "tenure.startup_probe" -}}
httpGet: {path: {{ eq .mode "exit-code" | ternary "/leader" "/readyz" }}, port: tenure-probe}
periodSeconds: 1
failureThreshold: {{ eq .mode "exit-code" | ternary 2147483647 60 }}
{{- end -}}

{{- define "tenure.agent" -}}
name: tenure
image: {{ include "tenure.image" . }}
{{- with .values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- if ne .mode "guard-plain" }}
restartPolicy: Always
{{- end }}
{{- if eq .mode "exit-code" }}
restartPolicyRules:
  - action: RestartAllContainers
    exitCodes: {operator: In, values: [{{ .values.stop.exitCode.status | int }}]}
{{- end }}
args:
  {{- include "tenure.args" . | nindent 2 }}
env:
  {{- include "tenure.env" . | nindent 2 }}
ports:
  - {name: tenure-probe, containerPort: {{ .values.probePort | int }}}
  {{- if hasKey .settings "peer_listen" }}
  - {name: tenure-peer, containerPort: {{ .values.peerPort | int }}, protocol: UDP}
  {{- end }}
startupProbe:
  {{- include "tenure.startup_probe" . | nindent 2 }}
livenessProbe:
  httpGet: {path: /livez, port: tenure-probe}
resources:
  {{- toYaml .values.resources | nindent 2 }}
securityContext:
  {{- include "tenure.security" . | nindent 2 }}
{{- $mounts := .values.extraVolumeMounts | default list }}
{{- if ne .mode "watch" }}
{{- $mounts = append $mounts (include "tenure.run_mount" . | fromYaml) }}
{{- end }}
{{- with $mounts }}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tenure.args" -}}
- agent
{{- if hasPrefix "guard" .mode }}
- --guard-dir=/run/tenure
{{- end }}
{{- if eq .mode "exit-code" }}
- --stop-exit-code={{ .values.stop.exitCode.status | int }}
- --kill-budget={{ .values.stop.exitCode.killBudget }}
{{- end }}
{{- if eq .mode "signal" }}
{{- include "tenure.target" . | nindent 0 }}
{{- end }}
{{- end -}}

{{- define "tenure.target" -}}
{{- $signal := .values.stop.signal -}}
{{- if $signal.executable -}}
- {{ printf "--target-executable=%s" $signal.executable | quote }}
{{- else if $signal.pidFile -}}
- {{ printf "--target-pid-file=%s" $signal.pidFile | quote }}
{{- else -}}
{{- $words := concat (.main.command | default list) (.main.args | default list) -}}
- {{ printf "--target-command-line=%s" ($signal.commandLine | default (join " " $words)) | quote }}
{{- end }}
- --while-standby={{ $signal.whileStandby }}
{{- if eq $signal.whileStandby "run" }}
- --on-gain=signal
- --gain-signal={{ $signal.gainSignal }}
{{- end }}
{{- end -}}

{{/* tenure.add_secrets: for the container that has the agent. Those who are not of the pod's group cannot read them. */}}
{{- define "tenure.add_secrets" -}}
{{- $sources := include "tenure.secret_sources" . | fromYamlArray -}}
{{- if $sources -}}
{{- $mode := hasKey (.pod.securityContext | default dict) "fsGroup" | ternary 0o440 0o444 -}}
{{- include "tenure.append" (list .pod "volumes"
    (dict "name" "tenure-store" "projected" (dict "defaultMode" $mode "sources" $sources))) -}}
{{- $mount := dict "name" "tenure-store" "mountPath" "/etc/tenure/store" "readOnly" true -}}
{{- $name := eq .mode "exec" | ternary .main.name "tenure" -}}
{{- range concat .pod.containers (.pod.initContainers | default list) -}}
{{- if eq .name $name -}}{{- include "tenure.append" (list . "volumeMounts" $mount) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tenure.secret_sources" -}}
{{- $store := .values.store -}}
{{- with $store.tls }}
{{- if and .secretName (or .caKey .certificateKey) }}
- secret:
    name: {{ .secretName | quote }}
    items:
      {{- if .caKey }}
      - {key: {{ .caKey | quote }}, path: ca.crt}
      {{- end }}
      {{- if .certificateKey }}
      - {key: {{ .certificateKey | quote }}, path: tls.crt}
      - {key: {{ .privateKeyKey | quote }}, path: tls.key}
      {{- end }}
{{- end }}
{{- end }}
{{- with $store.passwordSecret }}
{{- if .name }}
- secret: {name: {{ .name | quote }}, items: [{key: {{ .key | quote }}, path: password}]}
{{- end }}
{{- end }}
{{- with $store.tokenSecret }}
{{- if .name }}
- secret: {name: {{ .name | quote }}, items: [{key: {{ .key | quote }}, path: token}]}
{{- end }}
{{- end }}
{{- end -}}
