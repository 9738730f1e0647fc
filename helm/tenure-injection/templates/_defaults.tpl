{{/* Made by helm/reference.py. */}}
{{- define "injection.defaults" -}}
enabled: true
image:
  repository: tenure
  tag: ''
  digest: ''
  pullPolicy: ''
settings: {}
probePort: 8081
resources:
  requests: {}
  limits: {}
rbac:
  create: true
  bindings: []
refuseAfterUninstall: true
apiVersion: auto
{{- end -}}
