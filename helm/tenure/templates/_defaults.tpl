{{/* Made by helm/reference.py. */}}
{{- define "tenure-chart.defaults" -}}
enabled: true
fullnameOverride: ''
nameOverride: ''
commonLabels: {}
kind: Deployment
replicas: 2
image:
  repository: ''
  tag: ''
  digest: ''
  pullPolicy: ''
imagePullSecrets: []
command: []
args: []
env: []
envFrom: []
ports: []
resources: {}
volumeMounts: []
volumes: []
volumeClaimTemplates: []
securityContext: {}
podSecurityContext: {}
podLabels: {}
podAnnotations: {}
containerSpec: {}
nodeSelector: {}
tolerations: []
affinity: {}
podSpec: {}
extraContainers: []
strategy: {}
updateStrategy: {}
topologySpread:
  enabled: true
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
podDisruptionBudget:
  enabled: null
networkPolicy:
  enabled: false
  from: []
  egress: []
podMonitor:
  enabled: false
  labels: {}
  interval: 15s
serviceMonitor:
  enabled: false
  labels: {}
  interval: 15s
prometheusRule:
  enabled: false
  labels: {}
dashboard:
  enabled: false
  labels: {}
tenure:
  container: main
  traffic:
    way: auto
{{- end -}}
