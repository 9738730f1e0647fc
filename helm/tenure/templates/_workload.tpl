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
        {{- with .Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
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
      {{- end }}
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
image: {{ include "tenure.image_name" (list (required "image.repository: give the image of the workload" $image.repository) $image.tag $image.digest) }}
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
{{- with .Values.containerSpec }}
{{ toYaml . }}
{{- end }}
{{- end -}}
