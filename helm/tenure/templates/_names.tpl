{{/* tenure-chart.fill: for each file, before it reads a value. */}}
{{- define "tenure-chart.fill" -}}
{{- include "tenure.fill" (list .Values (include "tenure-chart.defaults" . | fromYaml)) -}}
{{- include "tenure.is_enabled" .Values -}}
{{- include "tenure.fill" (list .Values.tenure (include "tenure.defaults" . | fromYaml)) -}}
{{- $own := list "app.kubernetes.io/name" "app.kubernetes.io/instance" -}}
{{- include "tenure-chart.not_twice" (list "podLabels" .Values.podLabels $own) -}}
{{- include "tenure-chart.not_twice" (list "commonLabels" .Values.commonLabels
    (concat $own (list "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart"))) -}}
{{- end -}}

{{- define "tenure-chart.name" -}}
{{- $release := .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- .Values.fullnameOverride | default $release -}}
{{- end -}}

{{- define "tenure-chart.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "tenure-chart.labels" -}}
{{ include "tenure-chart.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{- include "tenure.texts" . }}
{{- end }}
{{- end -}}

{{/* tenure-chart.read: what tenure-library decides from the values. */}}
{{- define "tenure-chart.read" -}}
{{- include "tenure.read" (list . "tenure-chart.workload") -}}
{{- end -}}

{{/* tenure-chart.job: the job of this release in Prometheus. */}}
{{- define "tenure-chart.job" -}}
tenure/{{ .Release.Namespace }}/{{ include "tenure-chart.name" . }}
{{- end -}}

{{/* tenure-chart.relabelings: the same election name in two namespaces is two elections, so each release is a job. */}}
{{- define "tenure-chart.relabelings" -}}
relabelings:
  - {targetLabel: job, replacement: {{ include "tenure-chart.job" . }}}
{{- end -}}
