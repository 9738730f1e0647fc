{{/*
tenure.workload: the one line that a chart needs.

    {{ include "tenure.workload" (list . "mychart.deployment") }}

"mychart.deployment" is a template that writes the chart's Deployment or StatefulSet as it would be without Tenure. What comes
out is that with Tenure, and all that it needs: ServiceAccount, rights, the Service that leads to the active pod.
*/}}
{{- define "tenure.workload" -}}
{{- $it := include "tenure.read" . | fromYaml -}}
{{- $_ := set $it "root" (index . 0) -}}
{{- include "tenure.check" $it -}}
{{- include "tenure.add" $it -}}
{{ toYaml $it.workload }}
{{ include "tenure.account" $it }}
{{ include "tenure.rights" $it }}
{{ include "tenure.service" $it }}
{{- end -}}

{{/* tenure.values: those of this chart, in the chart that depends on it with `alias: tenure`. */}}
{{- define "tenure.values" -}}
{{- $values := deepCopy (.Values.tenure | required "the dependency tenure-library needs `alias: tenure` in Chart.yaml") -}}
{{- include "tenure.fill" (list $values (include "tenure.defaults" . | fromYaml)) -}}
{{- toYaml $values -}}
{{- end -}}

{{/* tenure.read: what is decided once: the workload, the container in it, the election, the way of traffic. */}}
{{- define "tenure.read" -}}
{{- $root := index . 0 -}}
{{- $text := include (index . 1) $root | trim -}}
{{- $workload := fromYaml $text -}}
{{- if regexMatch "(?m)^---" (trimPrefix "---" $text) -}}
{{- fail (printf "%s does not write one YAML object: other objects belong into files of their own" (index . 1)) -}}
{{- end -}}
{{- if hasKey $workload "Error" -}}
{{- fail (printf "%s does not write one YAML object: %v" (index . 1) $workload.Error) -}}
{{- end -}}
{{- if not (has $workload.kind (list "Deployment" "StatefulSet")) -}}
{{- fail (printf "kind: %s has no standby; use a Deployment or a StatefulSet" ($workload.kind | toString)) -}}
{{- end -}}
{{- $values := include "tenure.values" $root | fromYaml -}}
{{- $name := $workload.metadata.name -}}
{{- $containers := $workload.spec.template.spec.containers -}}
{{- if and (not $values.container) (gt (len $containers) 1) -}}
{{- fail "tenure.container: the pod has several containers; say which one Tenure starts and stops" -}}
{{- end -}}
{{- $container := $values.container | default (index $containers 0).name -}}
{{- $place := -1 -}}
{{- range $at, $one := $containers -}}
{{- if eq $one.name $container -}}{{- $place = $at -}}{{- end -}}
{{- end -}}
{{- if lt $place 0 -}}
{{- fail (printf "tenure.container: the pod has no container %q" $container) -}}
{{- end -}}
{{- $way := $values.traffic.way -}}
{{- $has_ports := or $values.traffic.service.ports (index $containers $place).ports -}}
{{- if eq $way "auto" -}}
{{- $way = "none" -}}
{{- if and $has_ports (eq (int $values.slots) 1) -}}{{- $way = "endpoints" -}}{{- end -}}
{{- end -}}
{{- toYaml (dict "workload" $workload "values" $values "name" $name "place" $place "way" $way
    "mode" $values.stop.mode "election" ($values.election | default $name)
    "service" ($values.traffic.service.name | default $name)
    "labels" ($workload.metadata.labels | default dict)) -}}
{{- end -}}

{{/* tenure.add: puts Tenure into the pod, one way for each mode. Changes `workload`. */}}
{{- define "tenure.add" -}}
{{- $pod := .workload.spec.template.spec -}}
{{- $main := index $pod.containers (int .place) -}}
{{- $_ := set . "pod" $pod -}}
{{- $_ = set . "main" $main -}}
{{- $_ = set . "settings" (include "tenure.settings" . | fromYaml) -}}
{{- if not $pod.serviceAccountName -}}
{{- $_ = set . "makes_account" .values.serviceAccount.create -}}
{{- $_ = set $pod "serviceAccountName" (.values.serviceAccount.name | default .name) -}}
{{- end -}}
{{- if not (hasKey $pod "terminationGracePeriodSeconds") -}}
{{- $_ = set $pod "terminationGracePeriodSeconds" (add (include "tenure.seconds" .values.drain | int) 10) -}}
{{- end -}}
{{- include (printf "tenure.add.%s" .mode) . -}}
{{- include "tenure.add_secrets" . -}}
{{- include "tenure.add_traffic" . -}}
{{- include "tenure.add_strategy" . -}}
{{- include "tenure.refuse_others" . -}}
{{- end -}}

{{- define "tenure.add.guard" -}}
{{- include "tenure.add_guard" . -}}
{{- include "tenure.append" (list .pod "initContainers" (include "tenure.agent" . | fromYaml)) -}}
{{- end -}}

{{- define "tenure.add.guard-plain" -}}
{{- include "tenure.add_guard" . -}}
{{- include "tenure.append" (list .pod "containers" (include "tenure.agent" . | fromYaml)) -}}
{{- end -}}

{{- define "tenure.add.exec" -}}
{{- include "tenure.add_binary" . -}}
{{- include "tenure.add_run" . -}}
{{- include "tenure.append" (list .main "volumeMounts" (include "tenure.run_mount" . | fromYaml)) -}}
{{- include "tenure.wrap" (list .main (list "/tenure-bin/tenure" "exec" "--")) -}}
{{- range concat (include "tenure.env" . | fromYamlArray) -}}
{{- include "tenure.append" (list $.main "env" .) -}}
{{- end -}}
{{- include "tenure.append" (list .main "ports" (dict "name" "tenure-probe" "containerPort" (int .values.probePort))) -}}
{{- if hasKey .settings "peer_listen" -}}
{{- include "tenure.append" (list .main "ports" (dict "name" "tenure-peer" "containerPort" (int .values.peerPort) "protocol" "UDP")) -}}
{{- end -}}
{{- $_ := set .main "startupProbe" (include "tenure.startup_probe" . | fromYaml) -}}
{{- end -}}

{{- define "tenure.add.signal" -}}
{{- $_ := set .pod "shareProcessNamespace" true -}}
{{- include "tenure.add_run" . -}}
{{- include "tenure.append" (list .pod "initContainers" (include "tenure.agent" . | fromYaml)) -}}
{{- end -}}

{{- define "tenure.add.exit-code" -}}
{{- include "tenure.add_run" . -}}
{{- include "tenure.append" (list .pod "initContainers" (include "tenure.agent" . | fromYaml)) -}}
{{- end -}}

{{/* tenure.add_guard: the main container's command runs under `tenure guard`. */}}
{{- define "tenure.add_guard" -}}
{{- include "tenure.add_binary" . -}}
{{- include "tenure.add_run" . -}}
{{- $command := list "/tenure-bin/tenure" "guard" (printf "--dir=%s" (include "tenure.guard_dir" .)) -}}
{{- if include "tenure.user_is_unknown" . -}}{{- $command = append $command "--agent-uid=65532" -}}{{- end -}}
{{- if ne .values.drain "20s" -}}{{- $command = append $command (printf "--drain=%s" .values.drain) -}}{{- end -}}
{{- if ne .values.stopSignal "TERM" -}}
{{- $command = append $command (printf "--stop-signal=%s" .values.stopSignal) -}}
{{- end -}}
{{- include "tenure.wrap" (list .main (append $command "--")) -}}
{{- include "tenure.append" (list .main "volumeMounts" (include "tenure.run_mount" . | fromYaml)) -}}
{{- end -}}

{{/* tenure.add_run: where the agent has its socket, and the guard its own. */}}
{{- define "tenure.add_run" -}}
{{- include "tenure.append" (list .pod "volumes" (dict "name" "tenure-run" "emptyDir" (dict "medium" "Memory"))) -}}
{{- end -}}

{{- define "tenure.run_mount" -}}
{name: tenure-run, mountPath: /run/tenure}
{{- end -}}

{{/*
tenure.add_binary: an init container brings it, so that the main container's image stays as it is. In memory: a pod with a volume
on the disk of its node keeps a cluster autoscaler from taking the node away.
*/}}
{{- define "tenure.add_binary" -}}
{{- include "tenure.append" (list .pod "volumes" (dict "name" "tenure-bin" "emptyDir" (dict "medium" "Memory"))) -}}
{{- include "tenure.append" (list .pod "initContainers" (include "tenure.installer" . | fromYaml)) -}}
{{- include "tenure.append" (list .main "volumeMounts"
    (dict "name" "tenure-bin" "mountPath" "/tenure-bin" "readOnly" true)) -}}
{{- end -}}

{{/* tenure.wrap (list CONTAINER COMMAND): its own command and arguments become the arguments of COMMAND. */}}
{{- define "tenure.wrap" -}}
{{- $main := index . 0 -}}
{{- $_ := set $main "args" (concat ($main.command | default list) ($main.args | default list)) -}}
{{- $_ = set $main "command" (index . 1) -}}
{{- end -}}

{{/* tenure.append (list OBJECT KEY ELEMENT): to the list there, which may be missing. */}}
{{- define "tenure.append" -}}
{{- $object := index . 0 -}}
{{- $key := index . 1 -}}
{{- $_ := set $object $key (append (get $object $key | default list) (index . 2)) -}}
{{- end -}}
