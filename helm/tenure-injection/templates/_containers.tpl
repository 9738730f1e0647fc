{{/* injection.security: Pod Security "restricted" admits it. */}}
{{- define "injection.security" -}}
securityContext: Object.spec.initContainers.securityContext{
  ?runAsUser: variables.user < 0 || variables.user == variables.spec.?securityContext.?runAsUser.orValue(-1) ? optional.none() :
    optional.of(variables.user),
  ?runAsNonRoot: variables.user == 0 ? optional.none() : optional.of(true),
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: Object.spec.initContainers.securityContext.capabilities{drop: ["ALL"]},
  seccompProfile: Object.spec.initContainers.securityContext.seccompProfile{type: "RuntimeDefault"}
},
{{- end -}}

{{- define "injection.pulled" -}}
image: {{ include "injection.image" . | toJson }},
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ toJson . }},
{{- end }}
{{- end -}}

{{- define "injection.resources" -}}
resources: Object.spec.initContainers.resources{
  requests: {{ .Values.resources.requests | toJson }},
  limits: {{ .Values.resources.limits | toJson }}
},
{{- end -}}

{{- define "injection.installer" -}}
Object.spec.initContainers{
  name: "tenure-install",
  {{- include "injection.pulled" . | nindent 2 }}
  args: ["install", "/tenure-bin"] + (variables.user < 0 ? ["--guard-dir=" + variables.folder] : []),
  {{- include "injection.resources" . | nindent 2 }}
  {{- include "injection.security" . | nindent 2 }}
  volumeMounts: [Object.spec.initContainers.volumeMounts{name: "tenure-bin", mountPath: "/tenure-bin"}] +
    (variables.user < 0 ? [Object.spec.initContainers.volumeMounts{name: "tenure-run", mountPath: "/run/tenure"}] : [])
}
{{- end -}}

{{- define "injection.agent" -}}
Object.spec.initContainers{
  name: "tenure",
  {{- include "injection.pulled" . | nindent 2 }}
  restartPolicy: "Always",
  {{- /* Kubernetes replaces $(NAME) in arguments; "$$(" is how a text has "$(". */}}
  args: ["agent", "--store=kubernetes", "--election=" + variables.annotations["tenure.dev/election"]] +
    variables.settings.map(word, word.replace("$(", "$$(")) +
    (variables.port == 8081 ? [] : ["--probe-listen=0.0.0.0:" + string(variables.port)]) +
    ["--guard-dir=" + variables.folder],
  env: [
    {{- $fields := dict "NAME" "metadata.name" "UID" "metadata.uid" "NODE" "spec.nodeName" "ADDRESS" "status.podIPs" }}
    {{- range $name, $field := $fields }}
    Object.spec.initContainers.env{name: "TENURE_POD_{{ $name }}", valueFrom: Object.spec.initContainers.env.valueFrom{
      fieldRef: Object.spec.initContainers.env.valueFrom.fieldRef{fieldPath: "{{ $field }}"}}},
    {{- end }}
    {{- range $key, $value := .Values.settings }}
    {{- $words := list }}
    {{- range kindIs "slice" $value | ternary $value (list $value) }}
    {{- $words = append $words (include "tenure.text" .) }}
    {{- end }}
    Object.spec.initContainers.env{name: "TENURE_{{ upper $key }}", value: {{ join "," $words | toJson }}},
    {{- end }}
    Object.spec.initContainers.env{name: "TENURE_RUNTIME_DIR", value: "/run/tenure/agent"}
  ],
  ports: [Object.spec.initContainers.ports{name: "tenure-probe", containerPort: variables.port}],
  startupProbe: Object.spec.initContainers.startupProbe{
    httpGet: Object.spec.initContainers.startupProbe.httpGet{path: "/readyz", port: "tenure-probe"},
    periodSeconds: 1,
    failureThreshold: 60
  },
  livenessProbe: Object.spec.initContainers.livenessProbe{
    httpGet: Object.spec.initContainers.livenessProbe.httpGet{path: "/livez", port: "tenure-probe"}
  },
  {{- include "injection.resources" . | nindent 2 }}
  {{- include "injection.security" . | nindent 2 }}
  volumeMounts: [Object.spec.initContainers.volumeMounts{name: "tenure-run", mountPath: "/run/tenure"}]
}
{{- end -}}
