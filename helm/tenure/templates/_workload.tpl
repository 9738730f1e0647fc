{{/* tenure-chart.workload: as it is without Tenure. */}}
{{- define "tenure-chart.workload" -}}
{{- $is_set := eq .Values.kind "StatefulSet" -}}
apiVersion: apps/v1
kind: {{ .Values.kind }}
metadata:
  name: {{ include "tenure-chart.name" . }}
  labels:
    {{- include "tenure-chart.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      {{- include "tenure-chart.selector" . | nindent 6 }}
  {{- if $is_set }}
  serviceName: {{ include "tenure-chart.name" . }}-pods
  # All at once: a standby need not wait until the first pod is Ready.
  podManagementPolicy: Parallel
  {{- with .Values.updateStrategy }}
  updateStrategy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.volumeClaimTemplates }}
  volumeClaimTemplates:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- else }}
  {{- with .Values.strategy }}
  strategy:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  template:
    metadata:
      labels:
        {{- include "tenure-chart.selector" . | nindent 8 }}
        {{- with merge (dict) .Values.podLabels .Values.commonLabels }}
        {{- include "tenure.texts" . | nindent 8 }}
        {{- end }}
      {{- with .Values.podAnnotations }}
      annotations:
        {{- include "tenure.texts" . | nindent 8 }}
      {{- end }}
    spec:
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- include "tenure.texts" . | nindent 8 }}
      {{- end }}
      {{- range $key := list "tolerations" "affinity" }}
      {{- with get $.Values $key }}
      {{ $key }}:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
      securityContext:
        {{- toYaml .Values.podSecurityContext | nindent 8 }}
      {{- if .Values.topologySpread.enabled }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: {{ .Values.topologySpread.topologyKey }}
          whenUnsatisfiable: {{ .Values.topologySpread.whenUnsatisfiable }}
          labelSelector:
            matchLabels:
              {{- include "tenure-chart.selector" . | nindent 14 }}
          {{- if semverCompare ">= 1.27.0-0" .Capabilities.KubeVersion.Version }}
          # Of one roll-out: pods that are about to end do not count.
          matchLabelKeys: [{{ $is_set | ternary "controller-revision-hash" "pod-template-hash" }}]
          {{- end }}
      {{- end }}
      {{- include "tenure-chart.not_twice" (list "podSpec" .Values.podSpec (list "imagePullSecrets" "nodeSelector" "tolerations"
          "affinity" "containers" "volumes" (.Values.topologySpread.enabled | ternary "topologySpreadConstraints" "")
          "securityContext")) }}
      {{- with .Values.podSpec }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      containers:
        - {{- include "tenure-chart.container" . | nindent 10 }}
        {{- with .Values.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.volumes }}
      volumes:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}

{{- define "tenure-chart.container" -}}
{{- $image := .Values.image -}}
name: main
image: {{ include "tenure.image_name" (list "image" $image "") }}
{{- with $image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- range $key := list "command" "args" }}
{{- with get $.Values $key }}
{{ $key }}:
  {{- range . }}
  - {{ include "tenure.text" . | quote }}
  {{- end }}
{{- end }}
{{- end }}
{{- range $key := list "env" "envFrom" "ports" "resources" "volumeMounts" "securityContext" }}
{{- with get $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- include "tenure-chart.not_twice" (list "containerSpec" .Values.containerSpec (list "name" "image" "imagePullPolicy" "command"
    "args" "env" "envFrom" "ports" "resources" "volumeMounts" "securityContext")) }}
{{- with .Values.containerSpec }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* tenure-chart.not_twice (list PATH VALUES KEYS): what the chart writes itself, from a value of its own. */}}
{{- define "tenure-chart.not_twice" -}}
{{- $path := index . 0 -}}
{{- $keys := index . 2 -}}
{{- $names := dict "containers" "extraContainers" "topologySpreadConstraints" "topologySpread" "imagePullPolicy" "image.pullPolicy"
    "app.kubernetes.io/name" "nameOverride" "securityContext" (eq $path "podSpec" | ternary "podSecurityContext" "securityContext") -}}
{{- range $key, $value := index . 1 -}}
{{- if has $key $keys -}}
{{- fail (printf "%s.%s: the chart writes this itself; its value for it, if there is one, is %s" $path $key (get $names $key | default $key)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
