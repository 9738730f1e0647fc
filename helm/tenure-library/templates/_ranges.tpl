{{/* Made by helm/reference.py. */}}
{{- define "tenure.ranges" -}}
drain:
- 0s
- 24h
grace:
- 0s
- ttl
health_delay:
- 0s
- 24h
health_file_age:
- 1s
- 24h
health_interval:
- 100ms
- 1h
health_timeout:
- 50ms
- health_interval
kill_budget:
- 1ms
- ttl
lock_delay:
- 0s
- ttl
renew:
- 50ms
- ttl
session_lock_delay:
- 0s
- 60s
ttl:
- 1s
- 24h
{{- end -}}
{{- define "tenure.stores_of" -}}
ca_file:
- etcd
- consul
- kubernetes
certificate_file:
- etcd
- consul
- kubernetes
datacenter:
- consul
key_file:
- etcd
- consul
- kubernetes
kube_context:
- kubernetes
kubeconfig:
- kubernetes
namespace:
- consul
- kubernetes
node_check:
- consul
partition:
- consul
password_file:
- etcd
server_name:
- etcd
- consul
- kubernetes
service_check:
- consul
session_behavior:
- consul
session_lock_delay:
- consul
session_without_ttl:
- consul
token_file:
- consul
- kubernetes
user:
- etcd
{{- end -}}
