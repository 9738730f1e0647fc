{{- define "tenure.account" -}}
{{- if .makes_account }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .pod.serviceAccountName }}
  {{- include "tenure.labels" . | nindent 2 }}
  {{- with .values.serviceAccount.annotations }}
  annotations:
    {{- include "tenure.texts" . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* tenure.leases: the names of all that a member writes to, without those of members. */}}
{{- define "tenure.leases" -}}
- {{ .election | quote }}
{{- range $slot := untilStep 1 (int .values.slots) 1 }}
- {{ printf "%s.slot-%d" $.election $slot | quote }}
{{- end }}
{{- end -}}

{{/* tenure.rules: of the Role; docs/kubernetes.md and docs/traffic.md say what each verb is for. */}}
{{- define "tenure.rules" -}}
{{- if eq .values.store.kind "kubernetes" }}
{{- if eq .values.rbac.leases "named" }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: {{ include "tenure.leases" . | fromYamlArray | toJson }}
  verbs: [get, patch]
# A list by a label cannot be limited to names.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [list, watch]
{{- else }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, list, watch, create, patch, delete]
{{- end }}
{{- end }}
{{- if .values.events }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end }}
{{- if eq (get .values.settings "witness" | toString) "kubelet" }}
- apiGroups: [""]
  resources: [pods]
  verbs: [watch]
{{- end }}
{{- if eq .way "endpoints" }}
# These slices alone: who may write slices may send traffic anywhere (CVE-2021-25740). The list shows whether others lead the
# Service's clients elsewhere; it cannot be limited to names.
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  resourceNames: {{ include "tenure.slices" . | fromYamlArray | toJson }}
  verbs: [get, patch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
{{- else if eq .way "label" }}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, patch]
{{- else if eq .way "gate" }}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list]
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
{{- end }}
{{- end -}}

{{- define "tenure.rights" -}}
{{- $rules := include "tenure.rules" . | trim -}}
{{- if and .values.rbac.create $rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}-tenure
  {{- include "tenure.labels" . | nindent 2 }}
rules:
  {{- $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}-tenure
  {{- include "tenure.labels" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}-tenure
subjects:
  - kind: ServiceAccount
    name: {{ .pod.serviceAccountName }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
{{- if and (eq .values.store.kind "kubernetes") (eq .values.rbac.leases "named") }}
{{- range include "tenure.leases" . | fromYamlArray }}
{{- $there := lookup "coordination.k8s.io/v1" "Lease" $.root.Release.Namespace . }}
{{- $owner := get (($there.metadata | default dict).annotations | default dict) "meta.helm.sh/release-name" }}
{{- if or (not $there) (eq ($owner | default "") $.root.Release.Name) }}
---
# Who may not create Leases needs them beforehand. They outlive the release, as those do that members make; one that a member
# has made is not ours.
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: {{ . | quote }}
  annotations:
    helm.sh/resource-policy: keep
  {{- with merge (ne . $.election | ternary (dict "tenure.dev/election" $.election) dict) $.labels }}
  labels:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
