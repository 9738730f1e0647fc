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
{{- $given := dict -}}
{{- range $key, $value := .values.settings -}}
{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $given $key $value -}}{{- end -}}
{{- end -}}
{{- include "tenure.check_own_settings" (list . $given $all) -}}
{{- $all = merge $all $given -}}
{{- /* Helm reads `off` as false. */ -}}
{{- if eq (get $all "runtime_dir" | toString) "false" -}}{{- $_ := set $all "runtime_dir" "off" -}}{{- end -}}
{{- if not (hasKey $all "runtime_dir") -}}{{- $_ := set $all "runtime_dir" "/run/tenure/agent" -}}{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* tenure.check_own_settings (list IT GIVEN ALL): with what the agent has as arguments, too. */}}
{{- define "tenure.check_own_settings" -}}
{{- $it := index . 0 -}}
{{- $values := $it.values -}}
{{- $paths := dict "ttl" "tenure.ttl" "drain" "tenure.drain" "stop_signal" "tenure.stopSignal" "log_format" "tenure.log.format"
    "log_level" "tenure.log.level" "slots" "tenure.slots" "probe_listen" "tenure.probePort" "peer_listen" "tenure.peerPort"
    "events" "tenure.events" "traffic" "tenure.traffic.way" "traffic_slice" "tenure.traffic" "store" "tenure.store.kind"
    "endpoint" "tenure.store.endpoints" "election" "tenure.election" "ca_file" "tenure.store.tls" "certificate_file"
    "tenure.store.tls" "key_file" "tenure.store.tls" "server_name" "tenure.store.tls.serverName" "user" "tenure.store.user"
    "password_file" "tenure.store.passwordSecret" "token_file" "tenure.store.tokenSecret" "stop_exit_code" "tenure.stop.exitCode"
    "target_executable" "tenure.stop.signal" "target_command_line" "tenure.stop.signal" "target_pid_file" "tenure.stop.signal"
    "while_standby" "tenure.stop.signal.whileStandby" "on_gain" "tenure.stop.signal.gainSignal"
    "gain_signal" "tenure.stop.signal.gainSignal" "guard_dir" "tenure.stop.mode" "guard_uid" "tenure.stop.mode" -}}
{{- $all := merge (dict "while_standby" $values.stop.signal.whileStandby) (index . 2) (index . 1) -}}
{{- if eq $it.mode "exit-code" -}}
{{- $_ := set $paths "kill_budget" "tenure.stop.exitCode.killBudget" -}}
{{- $_ = set $all "kill_budget" $values.stop.exitCode.killBudget -}}
{{- end -}}
{{- $refused := dict "observe" "a pod that only watches is never active; leave it out" -}}
{{- range $key, $path := $paths -}}
{{- $_ := set $refused $key (printf "another value of the chart says this already: %s" $path) -}}
{{- end -}}
{{- range list "identity" "pod_name" "pod_namespace" "pod_uid" "pod_node" "pod_address" -}}
{{- $_ := set $refused . "each pod has its own; leave it out" -}}
{{- end -}}
{{- range list "kubeconfig" "kube_context" -}}
{{- $_ := set $refused . "a pod has the API server, the CA and the token of its own; leave it out" -}}
{{- end -}}
{{- include "tenure.check_settings" (dict "path" "tenure.settings" "given" (index . 1) "all" $all "paths" $paths
    "refused" $refused "mode" $it.mode) -}}
{{- end -}}

{{/*
tenure.env: the settings as variables. They are part of the pod, and not in a ConfigMap: so a pod keeps the settings that it
was made with, also if its agent is started again in the middle of a roll-out, and an undone roll-out has the old ones.
*/}}
{{- define "tenure.env" -}}
{{- range $key, $value := .settings }}
- name: TENURE_{{ upper $key }}
  value: {{ include "tenure.variable" $value | quote }}
{{- end }}
- {name: TENURE_POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: TENURE_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
- {name: TENURE_POD_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: TENURE_POD_ADDRESS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}
{{- end -}}

{{/* tenure.variable: the value of a setting as that of a variable. */}}
{{- define "tenure.variable" -}}
{{- $words := list -}}
{{- range kindIs "slice" . | ternary . (list .) -}}
{{- $words = append $words (include "tenure.text" .) -}}
{{- end -}}
{{- join "," $words -}}
{{- end -}}

{{- define "tenure.image" -}}
{{- include "tenure.image_name" (list "tenure.image" .values.image .root.Subcharts.tenure.Chart.AppVersion) -}}
{{- end -}}

{{/* tenure.security: what Pod Security "restricted" asks of a container, and the user of the main container. */}}
{{- define "tenure.security" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- $pod := .workload.spec.template.spec }}
{{- $own := (index $pod.containers (int .place)).securityContext | default dict }}
{{- range $key := list "runAsUser" "runAsGroup" }}
{{- if hasKey $own $key }}
{{ $key }}: {{ get $own $key | int64 }}
{{- end }}
{{- end }}
{{- $user := get (hasKey $own "runAsUser" | ternary $own ($pod.securityContext | default dict)) "runAsUser" }}
{{- if ne (toString $user) "0" }}
runAsNonRoot: true
{{- end }}
{{- end -}}

{{/* tenure.user_is_unknown: not empty if the main container runs as the user of its image. */}}
{{- define "tenure.user_is_unknown" -}}
{{- $pod := .workload.spec.template.spec -}}
{{- $own := (index $pod.containers (int .place)).securityContext | default dict -}}
{{- if not (or (hasKey $own "runAsUser") (hasKey ($pod.securityContext | default dict) "runAsUser")) -}}true{{- end -}}
{{- end -}}

{{/* tenure.guard_dir: where agent and guard meet; what `tenure inject` adds, too (agent/manifest/sidecar.cpp). */}}
{{- define "tenure.guard_dir" -}}
/run/tenure{{ if include "tenure.user_is_unknown" . }}/guard{{ end }}
{{- end -}}

{{- define "tenure.installer" -}}
{{- $makes_place := and (hasPrefix "guard" .mode) (include "tenure.user_is_unknown" .) -}}
name: tenure-install
image: {{ include "tenure.image" . }}
{{- with .values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
args: [install, /tenure-bin{{ if $makes_place }}, --guard-dir={{ include "tenure.guard_dir" . }}{{ end }}]
resources:
  {{- toYaml .values.resources | nindent 2 }}
securityContext:
  {{- include "tenure.security" . | nindent 2 }}
volumeMounts:
  - {name: tenure-bin, mountPath: /tenure-bin}
  {{- if $makes_place }}
  - {{ include "tenure.run_mount" . }}
  {{- end }}
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
- --guard-dir={{ include "tenure.guard_dir" . }}
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
