{{/*
tenure.watcher: a Pod for `helm test`. Its agent has the rights and the settings of the release, and only watches. It succeeds
if that agent learns from the store who holds, and fails if nobody does for a minute.
*/}}
{{- define "tenure.watcher" -}}
{{- $it := .it -}}
{{- $_ := set $it "root" .root -}}
{{- $_ = set $it "pod" (deepCopy $it.workload.spec.template.spec) -}}
{{- $_ = set $it "main" (index $it.pod.containers (int $it.place)) -}}
{{- $settings := include "tenure.settings" $it | fromYaml -}}
{{- $kept := dict "observe" true "listen" "127.0.0.1:4040" -}}
{{- range $key := list "store" "endpoint" "election" "ttl" "slots" "ca_file" "certificate_file" "key_file" "server_name" "user"
    "password_file" "token_file" "datacenter" "partition" "namespace" "log_format" "probe_listen" -}}
{{- if hasKey $settings $key -}}{{- $_ := set $kept $key (get $settings $key) -}}{{- end -}}
{{- end -}}
{{- $_ = set $it "settings" $kept -}}
{{- $_ = set $it "mode" "watch" -}}
{{- $agent := include "tenure.agent" $it | fromYaml -}}
{{- $agent = omit $agent "livenessProbe" -}}
{{- $account := $it.pod.serviceAccountName | default $it.values.serviceAccount.name | default $it.name -}}
{{- $asks := dict "name" "wait" "image" (include "tenure.image" $it) "securityContext" (include "tenure.security" $it | fromYaml)
    "args" (list "wait" $it.election "--for" "held" "--timeout" "60s" "--api" "http://127.0.0.1:4040") -}}
{{- with $it.values.image.pullPolicy -}}{{- $_ := set $asks "imagePullPolicy" . -}}{{- end -}}
{{- $pod := dict "restartPolicy" "Never" "serviceAccountName" $account "securityContext" ($it.pod.securityContext | default dict)
    "initContainers" (list $agent) "containers" (list $asks) -}}
{{- with $it.pod.imagePullSecrets -}}{{- $_ := set $pod "imagePullSecrets" . -}}{{- end -}}
{{- $_ = set $it "pod" $pod -}}
{{- include "tenure.add_secrets" $it -}}
{{- $hook := dict "helm.sh/hook" "test" "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" -}}
{{ toYaml (dict "apiVersion" "v1" "kind" "Pod" "spec" $pod
    "metadata" (dict "name" .name "labels" (omit .labels "app.kubernetes.io/name") "annotations" $hook)) }}
{{- end -}}
