{{/* tenure.add_traffic: what the pod needs so that Kubernetes learns which one is active. */}}
{{- define "tenure.add_traffic" -}}
{{- $template := .workload.spec.template -}}
{{- if has .way (list "label" "gate") -}}
{{- $metadata := $template.metadata | default dict -}}
{{- $_ := set $metadata "labels" (merge (dict "tenure.dev/election" .election) ($metadata.labels | default dict)) -}}
{{- $_ = set $template "metadata" $metadata -}}
{{- end -}}
{{- if eq .way "gate" -}}
{{- include "tenure.append" (list .pod "readinessGates" (dict "conditionType" "tenure.dev/active")) -}}
{{- end -}}
{{- if eq .way "probe" -}}
{{- $get := dict "path" "/leader" "port" (int .values.probePort) -}}
{{- $_ := set .main "readinessProbe" (dict "httpGet" $get "periodSeconds" 1 "failureThreshold" 1) -}}
{{- end -}}
{{- end -}}

{{/* tenure.only_active_is_ready: "yes" if a standby is not Ready; docs/traffic.md says what follows. */}}
{{- define "tenure.only_active_is_ready" -}}
{{- $main := index .workload.spec.template.spec.containers (int .place) -}}
{{- $stops := or (ne .mode "signal") (eq .values.stop.signal.whileStandby "stop") -}}
{{- if or (has .way (list "gate" "probe")) (eq .mode "exit-code") (and $stops $main.readinessProbe)
    (and (eq .mode "signal") $stops) -}}
yes
{{- end -}}
{{- end -}}

{{/*
tenure.add_strategy: where only the active pod is Ready, a roll-out has to end all pods at once, or it never ends. Otherwise what
Kubernetes does by default, but said: what an API server has filled in by itself stays when another strategy is asked for, and
`Recreate` with `rollingUpdate` is refused.
*/}}
{{- define "tenure.add_strategy" -}}
{{- if eq .workload.kind "Deployment" -}}
{{- $all := not (empty (include "tenure.only_active_is_ready" .)) -}}
{{- $rolling := dict "maxSurge" ($all | ternary 0 "25%") "maxUnavailable" ($all | ternary "100%" "25%") -}}
{{- $said := .workload.spec.strategy | default dict -}}
{{- if ne ($said.type | default "RollingUpdate") "Recreate" -}}
{{- $_ := set .workload.spec "strategy" (dict "type" "RollingUpdate" "rollingUpdate" ($said.rollingUpdate | default $rolling)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
tenure.refuse_others: pods of the workload that do not take part in the election, as those of a release before Tenure, or of another
election. A roll-out makes a new pod before the last of them has ended, so one would run beside it. `helm template` does not see them.
*/}}
{{- define "tenure.refuse_others" -}}
{{- $space := .workload.metadata.namespace | default .root.Release.Namespace -}}
{{- $live := lookup "apps/v1" .workload.kind $space .name -}}
{{- if and $live (ne ((.workload.spec.strategy | default dict).type | default "") "Recreate") -}}
{{- $theirs := dict -}}
{{- $pod := $live.spec.template.spec -}}
{{- range concat ($pod.initContainers | default list) $pod.containers -}}
{{- range .env | default list -}}{{- $_ := set $theirs .name (.value | default "") -}}{{- end -}}
{{- end -}}
{{- $is_another := false -}}
{{- range $key := list "store" "election" "namespace" -}}
{{- $ours := hasKey $.settings $key | ternary (include "tenure.variable" (get $.settings $key)) "" -}}
{{- if ne (get $theirs (printf "TENURE_%s" (upper $key))) $ours -}}{{- $is_another = true -}}{{- end -}}
{{- end -}}
{{- $status := $live.status | default dict -}}
{{- if and $is_another (or $live.spec.replicas $status.replicas $status.terminatingReplicas) -}}
{{- $labels := list -}}
{{- range $key, $value := $live.spec.selector.matchLabels | default dict -}}
{{- $labels = append $labels (printf "%s=%s" $key $value) -}}
{{- end -}}
{{- $which := printf "%s/%s" (lower .workload.kind) .name -}}
{{- fail (printf "pods of %s do not take part in the election %s of this release: one of them would run beside the first new pod that is active. End them, then repeat this: kubectl scale -n %s %s --replicas=0 && kubectl wait -n %s pod --for=delete --timeout=5m -l %s"
    $which .election $space $which $space (join "," $labels)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tenure.slices" -}}
{{- $types := .values.traffic.addressTypes -}}
{{- if eq (len $types) 1 -}}
- {{ .service }}
{{- else -}}
{{- range $types }}
- {{ $.service }}-{{ lower . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* tenure.ports: of the Service; those of the main container if nothing is said. */}}
{{- define "tenure.ports" -}}
{{- $ports := .values.traffic.service.ports -}}
{{- if not $ports -}}
{{- $ports = list -}}
{{- range .main.ports -}}
{{- if not (has (.name | default "") (list "tenure-probe" "tenure-peer")) -}}{{- $ports = append $ports . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $ports }}
- name: {{ .name | default "main" }}
  port: {{ .port | default .containerPort | int }}
  targetPort: {{ .targetPort | default .containerPort | default .port | int }}
  {{- with .protocol }}
  protocol: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "tenure.service" -}}
{{- if ne .way "none" }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .service }}
  {{- include "tenure.labels" . | nindent 2 }}
  {{- with .values.traffic.service.annotations }}
  annotations:
    {{- include "tenure.texts" . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.traffic.service.type }}
  {{- if eq .way "label" }}
  selector:
    tenure.dev/election: {{ .election | quote }}
    tenure.dev/role: active
  {{- else if eq .way "endpoints" }}
  # No pod has this label: the endpoints are those of the slice. Without a selector Kubernetes would keep, and lead clients to,
  # what the selector before has found.
  selector:
    tenure.dev/select: none
  {{- else }}
  selector:
    {{- toYaml .workload.spec.selector.matchLabels | nindent 4 }}
  {{- end }}
  {{- if eq .way "endpoints" }}
  {{- if gt (len .values.traffic.addressTypes) 1 }}
  ipFamilyPolicy: PreferDualStack
  {{- end }}
  {{- end }}
  ports:
    {{- include "tenure.ports" . | nindent 4 }}
{{- end }}
{{- if eq .way "endpoints" }}
{{- $slices := include "tenure.slices" . | fromYamlArray }}
{{- range $at, $type := .values.traffic.addressTypes }}
---
# Without `endpoints`, not even an empty list: an upgrade would put that in place of what the holder has written. The API server
# takes it; validators that know only the schema ask for the list.
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: {{ index $slices $at }}
  labels:
    {{- toYaml (merge (dict "kubernetes.io/service-name" $.service "endpointslice.kubernetes.io/managed-by" "tenure.dev") $.labels) | nindent 4 }}
addressType: {{ $type }}
ports:
  {{- range include "tenure.ports" $ | fromYamlArray }}
  - {name: {{ .name }}, port: {{ .targetPort | int }}, protocol: {{ .protocol | default "TCP" }}}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "tenure.labels" -}}
{{- with .labels -}}
labels:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
