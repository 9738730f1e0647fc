{{/* Made by helm/reference.py. */}}
{{- define "tenure.defaults" -}}
enabled: true
image:
  repository: tenure
  tag: ''
  digest: ''
  pullPolicy: ''
election: ''
ttl: 15s
slots: 1
drain: 20s
stopSignal: TERM
container: ''
stop:
  mode: guard
  signal:
    executable: ''
    commandLine: ''
    pidFile: ''
    whileStandby: run
    gainSignal: USR1
  exitCode:
    status: 42
    killBudget: 4s
store:
  kind: kubernetes
  endpoints: []
  tls:
    secretName: ''
    caKey: ca.crt
    certificateKey: ''
    privateKeyKey: ''
    serverName: ''
  user: ''
  passwordSecret:
    name: ''
    key: password
  tokenSecret:
    name: ''
    key: token
traffic:
  way: none
  addressTypes:
  - IPv4
  service:
    name: ''
    type: ClusterIP
    annotations: {}
    ports: []
events: true
rbac:
  create: true
  leases: namespace
serviceAccount:
  create: true
  name: ''
  annotations: {}
settings: {}
log:
  format: logfmt
  level: info
probePort: 8081
peerPort: 4041
resources: {}
extraVolumeMounts: []
{{- end -}}
