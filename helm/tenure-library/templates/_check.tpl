{{/* tenure.check: what the schema cannot know. Each message begins with the path of the value. */}}
{{- define "tenure.check" -}}
{{- $pod := .workload.spec.template.spec -}}
{{- $_ := set . "pod" $pod -}}
{{- $_ = set . "main" (index $pod.containers (int .place)) -}}
{{- include "tenure.check_store" . -}}
{{- include "tenure.check_names" . -}}
{{- include "tenure.check_container" . -}}
{{- include "tenure.check_version" . -}}
{{- include "tenure.check_traffic" . -}}
{{- include "tenure.check_strategy" . -}}
{{- include "tenure.check_time" . -}}
{{- end -}}

{{- define "tenure.check_store" -}}
{{- $store := .values.store -}}
{{- $is_kubernetes := eq $store.kind "kubernetes" -}}
{{- if eq $store.kind "sqlite" -}}
{{- fail "tenure.store.kind: sqlite is a file for members of one machine, and pods are on several; use kubernetes, etcd or consul" -}}
{{- end -}}
{{- if and (not $is_kubernetes) (not $store.endpoints) -}}
{{- fail (printf "tenure.store.endpoints: say where %s is, for instance [https://%s:2379]" $store.kind $store.kind) -}}
{{- end -}}
{{- if and $is_kubernetes (or $store.endpoints $store.tls.secretName $store.user $store.passwordSecret.name $store.tokenSecret.name) -}}
{{- fail "tenure.store: kubernetes takes the API server, the CA and the token of the pod; endpoints, tls, user, passwordSecret and tokenSecret are for etcd and consul" -}}
{{- end -}}
{{- if ne (empty $store.tls.certificateKey) (empty $store.tls.privateKeyKey) -}}
{{- fail "tenure.store.tls: certificateKey and privateKeyKey need each other" -}}
{{- end -}}
{{- if and $store.tls.certificateKey (not $store.tls.secretName) -}}
{{- fail "tenure.store.tls.secretName: name the Secret that has certificateKey" -}}
{{- end -}}
{{- if ne (empty $store.user) (empty $store.passwordSecret.name) -}}
{{- fail "tenure.store: user and passwordSecret.name need each other" -}}
{{- end -}}
{{- if and $store.user (ne $store.kind "etcd") -}}
{{- fail (printf "tenure.store.user: is for etcd; %s has tokens" $store.kind) -}}
{{- end -}}
{{- if and $store.tokenSecret.name (ne $store.kind "consul") -}}
{{- fail (printf "tenure.store.tokenSecret: is for consul; %s has user and passwordSecret" $store.kind) -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_names" -}}
{{- $is_object := or (eq .values.store.kind "kubernetes") (has .way (list "label" "gate")) -}}
{{- if and $is_object (not (regexMatch "^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$" .election)) -}}
{{- fail (printf "tenure.election: %q is the name of a Lease or a label here: up to 63 small letters, digits, - and ." .election) -}}
{{- end -}}
{{- if and (eq .values.rbac.leases "named") (ne .values.store.kind "kubernetes") -}}
{{- fail (printf "tenure.rbac.leases: %s has no Leases" .values.store.kind) -}}
{{- end -}}
{{- if and (not .pod.serviceAccountName) (not .values.serviceAccount.create) (not .values.serviceAccount.name) -}}
{{- fail "tenure.serviceAccount: with `create: false` give the name of one" -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_container" -}}
{{- $wraps := has .mode (list "guard" "guard-plain" "exec") -}}
{{- if and $wraps (not .main.command) -}}
{{- fail (printf "tenure.stop.mode: %s puts Tenure before the command of container %q, and it has none: give it the `command` that its image starts" .mode .main.name) -}}
{{- end -}}
{{- if and $wraps (or .main.livenessProbe .main.startupProbe) -}}
{{- fail (printf "container %q: with tenure.stop.mode %s its command does not run on a standby, so livenessProbe and startupProbe would fail there; use tenure.settings.health_http, health_command or health_file (docs/health.md)" .main.name .mode) -}}
{{- end -}}
{{- if include "tenure.user_is_unknown" . -}}
{{- if eq .mode "signal" -}}
{{- fail (printf "container %q: give it or the pod a securityContext.runAsUser, which Tenure's container then has, too: it may signal no other user's processes" .main.name) -}}
{{- end -}}
{{- if and (hasPrefix "guard" .mode) .pod.shareProcessNamespace -}}
{{- fail (printf "container %q: with shareProcessNamespace a workload can outlive its guard, and only an agent of its user can kill it then; leave it out, or set securityContext.runAsUser" .main.name) -}}
{{- end -}}
{{- end -}}
{{- include "tenure.check_pod" . -}}
{{- if eq .mode "signal" -}}
{{- $signal := .values.stop.signal -}}
{{- if not (or $signal.executable $signal.commandLine $signal.pidFile .main.command .main.args) -}}
{{- fail (printf "tenure.stop.signal: container %q has no command; say how to find it: executable, commandLine or pidFile" .main.name) -}}
{{- end -}}
{{- if gt (len (compact (list $signal.executable $signal.commandLine $signal.pidFile))) 1 -}}
{{- fail "tenure.stop.signal: give one of executable, commandLine and pidFile" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* tenure.check_pod: what `tenure inject` and the chart tenure-injection refuse, too, in the same words. */}}
{{- define "tenure.check_pod" -}}
{{- if and .pod.hostPID (ne .mode "exit-code") -}}
{{- fail "hostPID: with hostPID, what the guard has started would outlive the guard, and be in the view of every pod of the node; leave hostPID out" -}}
{{- end -}}
{{- if or (eq ((.pod.os | default dict).name | toString) "windows") (eq (get (.pod.nodeSelector | default dict) "kubernetes.io/os" | toString) "windows") -}}
{{- fail "this pod is for Windows; Tenure runs on Linux only" -}}
{{- end -}}
{{- $wraps := has .mode (list "guard" "guard-plain" "exec") -}}
{{- if and $wraps (hasKey (.main.lifecycle | default dict) "postStart") -}}
{{- fail (printf "container %q: postStart would run when the container starts, on a standby too; do what it does in the command" .main.name) -}}
{{- end -}}
{{- $command := .main.command | default list -}}
{{- if and (gt (len $command) 1) (regexMatch "(^|/)tenure$" (first $command | toString)) (has (index $command 1) (list "guard" "exec")) -}}
{{- fail (printf "container %q: the command runs under Tenure already; give the command of the workload alone" .main.name) -}}
{{- end -}}
{{- range concat .pod.containers (.pod.initContainers | default list) -}}
{{- if has .name (list "tenure" "tenure-install") -}}
{{- fail (printf "container %q: this name is for Tenure's own container" .name) -}}
{{- end -}}
{{- $name := .name -}}
{{- range .ports -}}
{{- if or (eq (int .containerPort) (int $.values.probePort)) (eq (.name | default "") "tenure-probe") -}}
{{- fail (printf "container %q: the container listens on port %d, where the agent would answer probes; give the agent another one: tenure.probePort" $name (int .containerPort)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range .pod.volumes -}}
{{- if has .name (list "tenure-bin" "tenure-run" "tenure-store") -}}
{{- fail (printf "volumes: there is a volume %q already; give it another name, this one is Tenure's" .name) -}}
{{- end -}}
{{- end -}}
{{- range .main.volumeMounts -}}
{{- if regexMatch "^(/tenure-bin|/run/tenure)(/|$)" .mountPath -}}
{{- fail (printf "container %q: a volume is mounted at %q, which Tenure uses; mount it elsewhere" $.main.name .mountPath) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_version" -}}
{{- $version := .root.Capabilities.KubeVersion.Version -}}
{{- if and (has .mode (list "guard" "signal")) (semverCompare "< 1.29.0-0" $version) -}}
{{- fail (printf "tenure.stop.mode: %s needs sidecars, which Kubernetes %s does not have; use guard-plain or exec" .mode $version) -}}
{{- end -}}
{{- if and (eq .mode "exit-code") (semverCompare "< 1.35.0-0" $version) -}}
{{- fail (printf "tenure.stop.mode: exit-code needs Kubernetes 1.35, and this is %s; use guard" $version) -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_traffic" -}}
{{- if and (gt (int .values.slots) 1) (not (has .way (list "none" "probe"))) -}}
{{- fail (printf "tenure.traffic.way: %s names one pod, and there are %d slots; use none or probe" .way (int .values.slots)) -}}
{{- end -}}
{{- if and (ne .way "none") (not (include "tenure.ports" . | trim)) -}}
{{- fail (printf "tenure.traffic.service.ports: %s needs a port for its Service; or use tenure.traffic.way none" .way) -}}
{{- end -}}
{{- if and (eq .way "probe") .main.readinessProbe -}}
{{- fail (printf "container %q: tenure.traffic.way probe is a readinessProbe, and it has one already; use gate, label or endpoints" .main.name) -}}
{{- end -}}
{{- $asks := or (eq .values.store.kind "kubernetes") .values.events (not (has .way (list "none" "probe"))) -}}
{{- if and $asks (hasKey .pod "automountServiceAccountToken") (not .pod.automountServiceAccountToken) -}}
{{- fail "automountServiceAccountToken: Tenure needs the token of the pod, for Leases, traffic or events" -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_strategy" -}}
{{- if include "tenure.only_active_is_ready" . -}}
{{- $why := printf "with tenure.stop.mode %s and tenure.traffic.way %s a standby is not Ready" .mode .way -}}
{{- $spec := .workload.spec -}}
{{- if eq .workload.kind "StatefulSet" -}}
{{- if ne ((($spec.updateStrategy | default dict).type) | default "RollingUpdate") "OnDelete" -}}
{{- fail (printf "updateStrategy: %s, so a roll-out of a StatefulSet stops after its first pod; use OnDelete, or tenure.traffic.way endpoints or label" $why) -}}
{{- end -}}
{{- else if $spec.strategy -}}
{{- $most := ($spec.strategy.rollingUpdate | default dict).maxUnavailable | default "25%" | toString -}}
{{- $all := or (eq $most "100%") (and (not (hasSuffix "%" $most)) (ge (int $most) (int ($spec.replicas | default 1)))) -}}
{{- if not (or (eq $spec.strategy.type "Recreate") $all) -}}
{{- fail (printf "strategy: %s, so a roll-out never ends; use Recreate, or RollingUpdate with maxUnavailable 100%%" $why) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_time" -}}
{{- $least := add (include "tenure.seconds" .values.drain | int) 5 -}}
{{- if hasKey .pod "terminationGracePeriodSeconds" -}}
{{- if lt (int64 .pod.terminationGracePeriodSeconds) $least -}}
{{- fail (printf "terminationGracePeriodSeconds: %d is too short for tenure.drain %s, the kill and the release: %d at least" (int64 .pod.terminationGracePeriodSeconds) .values.drain $least) -}}
{{- end -}}
{{- end -}}
{{- end -}}
