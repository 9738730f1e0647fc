{{/*
injection.variables EXPRESSION: the variables of a policy. EXPRESSION is where the pod is: the object, or its template. What
`problems` says is what `tenure inject` says (agent/manifest/pod_rules.cpp); a message has to be on one line.
*/}}
{{- define "injection.variables" -}}
- name: pod
  expression: {{ .pod }}
- name: spec
  expression: variables.pod.spec
- name: annotations
  expression: variables.pod.metadata.?annotations.orValue({})
- name: names
  expression: variables.spec.containers.map(c, c.name)
- name: all
  expression: variables.spec.containers + variables.spec.?initContainers.orValue([])
- name: carries  # a sidecar, of this policy or of anybody's; or the agent is in the main container
  expression: |
    variables.all.exists(c, c.name == 'tenure' && c.?args.orValue([]).size() > 0 && c.args[0] == 'agent') ||
    variables.spec.containers.exists(c, c.?command.orValue([]).size() > 1 && c.command[0].endsWith('/tenure') &&
                                        c.command[1] == 'exec')
- name: wanted
  expression: variables.annotations[?'tenure.dev/container'].orValue('')
- name: place
  expression: "variables.wanted != '' ? variables.names.indexOf(variables.wanted) : variables.names.size() == 1 ? 0 : -1"
- name: main
  expression: "variables.spec.containers[variables.place < 0 ? 0 : variables.place]"
- name: user  # -1: not known
  expression: |
    variables.main.?securityContext.?runAsUser.or(variables.spec.?securityContext.?runAsUser).orValue(-1)
- name: folder  # where agent and guard meet: docs/decisions/0051-the-guards-user-is-who-came-first.md
  expression: "variables.user < 0 ? '/run/tenure/guard' : '/run/tenure'"
- name: ports  # that no container has, where the agent could answer probes
  expression: |
    [{{ range $i, $_ := until 16 }}{{ if $i }}, {{ end }}{{ add $.port $i }}{{ end }}].filter(
      port, !variables.all.exists(c, c.?ports.orValue([]).exists(p, p.containerPort == port)))
- name: port
  expression: "variables.ports.size() > 0 ? variables.ports[0] : 0"
- name: settings
  expression: |
    variables.annotations[?'tenure.dev/settings'].orValue('').replace('\t', ' ').replace('\r', ' ').replace('\n', ' ')
      .split(' ').filter(word, word != '')
- name: optedIn
  expression: namespaceObject.metadata.?labels[?'tenure.dev/injection'].orValue('') == 'enabled'
- name: problems
  expression: |
    (variables.optedIn ? [] :
      ['the namespace has no label tenure.dev/injection=enabled: somebody who may change the namespace sets it']) +
    (variables.annotations[?'tenure.dev/election'].orValue('')
        .matches('^[A-Za-z0-9][-A-Za-z0-9._]*(/[A-Za-z0-9][-A-Za-z0-9._]*)*$') ? [] :
      ['the election is not known: name it in the annotation tenure.dev/election of the pod']) +
    (variables.place >= 0 ? [] : variables.wanted == '' ?
      ['there are several containers: say which one is to be active in the annotation tenure.dev/container, one of ' +
       variables.names.join(', ')] :
      ['there is no container of the name in the annotation tenure.dev/container; these are: ' + variables.names.join(', ')]) +
    (variables.place < 0 || variables.main.?command.orValue([]).size() > 0 ? [] :
      ['the main container has no command, and the entry point of its image is not known here: write it into the manifest as ' +
       'command']) +
    (variables.place < 0 || variables.main.?command.orValue([]).size() < 2 ||
        !variables.main.command[0].endsWith('/tenure') || variables.main.command[1] != 'guard' ? [] :
      ['the command runs under tenure guard already, and there is no sidecar: take out by hand what was added by hand']) +
    (variables.place < 0 || variables.user >= 0 || !variables.spec.?shareProcessNamespace.orValue(false) ? [] :
      ['with shareProcessNamespace a workload can outlive its guard, and only an agent of its user can kill it then; the user that ' +
       'the main container runs as is not known here: leave it out, or set securityContext.runAsUser']) +
    (variables.place < 0 || variables.user != 0 ||
        !variables.main.?securityContext.?runAsNonRoot.or(variables.spec.?securityContext.?runAsNonRoot).orValue(false) ? [] :
      ['user 0 is root, which runAsNonRoot forbids: give the user that the main container runs as']) +
    (variables.place < 0 || !has(variables.main.livenessProbe) && !has(variables.main.startupProbe) ? [] :
      ['the command does not run on a standby, so its livenessProbe or startupProbe would fail there, and the kubelet would ' +
       'start the container again and again: leave it out, and let the agent check the workload: annotation ' +
       'tenure.dev/settings with --health-http=http://127.0.0.1:PORT/PATH']) +
    (variables.place < 0 || !has(variables.main.readinessProbe) ? [] :
      ['a standby, where the command does not run, is not Ready by its readinessProbe, and a roll-out waits for it for ever: ' +
       'leave it out, or use tenure inject, which sees the strategy of the workload']) +
    (variables.place < 0 || !has(variables.main.lifecycle) || !has(variables.main.lifecycle.postStart) ? [] :
      ['postStart would run when the container starts, on a standby too: do what it does in the command']) +
    (!variables.spec.?hostPID.orValue(false) ? [] :
      ['with hostPID, what the guard has started would outlive the guard, and be in the view of every pod of the node: ' +
       'leave hostPID out']) +
    (variables.spec.?os.?name.orValue('') != 'windows' &&
        variables.spec.?nodeSelector[?'kubernetes.io/os'].orValue('') != 'windows' ? [] :
      ['this pod is for Windows: Tenure runs on Linux only']) +
    (!variables.pod.metadata.?ownerReferences.orValue([]).exists(one, one.kind == 'Job') ? [] :
      ['pods of a Job end when their work is done: use tenure exec in the image']) +
    (variables.spec.?automountServiceAccountToken.orValue(true) ? [] :
      ['without the token of its ServiceAccount the agent cannot sign in to Kubernetes: set automountServiceAccountToken to ' +
       'true']) +
    (!variables.all.exists(c, c.name in ['tenure', 'tenure-install']) ? [] :
      ['there is a container tenure or tenure-install already: give it another name']) +
    (!variables.spec.?volumes.orValue([]).exists(v, v.name in ['tenure-bin', 'tenure-run']) ? [] :
      ['there is a volume tenure-bin or tenure-run already: give it another name']) +
    (variables.place < 0 || !variables.main.?volumeMounts.orValue([]).exists(
        m, (m.mountPath + '/').startsWith('/tenure-bin/') || (m.mountPath + '/').startsWith('/run/tenure/')) ? [] :
      ['a volume is mounted at /tenure-bin or /run/tenure, which Tenure uses: mount it elsewhere']) +
    (variables.ports.size() > 0 ? [] :
      ['containers have all ports from {{ .port }} to {{ add .port 15 }}, where the agent could answer probes: set probePort of the ' +
       'chart tenure-injection']) +
    (variables.settings.all(word, word.startsWith('--')) ? [] :
      ['the annotation tenure.dev/settings is for words such as --ttl=6s, with spaces between them']) +
    (!variables.settings.exists(word, word in ['--traffic=label', '--traffic=gate'] ||
        word.split('=')[0] in ['--store', '--election', '--identity', '--guard-dir', '--probe-listen', '--config']) ? [] :
      ['the annotation tenure.dev/settings may not have --store, --election, --identity, --guard-dir, --probe-listen, ' +
       '--config, --traffic=label or --traffic=gate: take them out, or use the chart tenure-library'])
{{- end -}}

{{/* injection.api: the version of the API of MutatingAdmissionPolicy. */}}
{{- define "injection.api" -}}
{{- $group := "admissionregistration.k8s.io" -}}
{{- if ne .Values.apiVersion "auto" -}}
{{ $group }}/{{ .Values.apiVersion }}
{{- else if .Capabilities.APIVersions.Has (printf "%s/v1/MutatingAdmissionPolicy" $group) -}}
{{ $group }}/v1
{{- else if .Capabilities.APIVersions.Has (printf "%s/v1beta1/MutatingAdmissionPolicy" $group) -}}
{{ $group }}/v1beta1
{{- else -}}
{{- fail "this cluster has no MutatingAdmissionPolicy: Kubernetes 1.36 has it, 1.34 and 1.35 with --feature-gates=MutatingAdmissionPolicy=true and --runtime-config=admissionregistration.k8s.io/v1beta1=true for the API server. Without it, use `tenure inject` (docs/inject.md). `helm template` does not ask a cluster: set apiVersion" -}}
{{- end -}}
{{- end -}}

{{/* injection.fill: for each file, before it reads a value. */}}
{{- define "injection.fill" -}}
{{- include "tenure.fill" (list .Values (include "injection.defaults" . | fromYaml)) -}}
{{- include "tenure.is_enabled" .Values -}}
{{- $given := dict -}}
{{- range $key, $value := .Values.settings -}}
{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $given $key $value -}}{{- end -}}
{{- end -}}
{{- $_ := set .Values "settings" $given -}}
{{- $all := merge (dict "store" "kubernetes" "probe_listen" (printf "0.0.0.0:%d" (int .Values.probePort))) $given -}}
{{- $refused := dict "probe_listen" "another value of the chart says this already: probePort"
    "observe" "a pod that only watches is never active; leave it out" -}}
{{- range list "store" "endpoint" "guard_dir" "guard_uid" "runtime_dir" "target_executable" "target_command_line" "target_pid_file"
    "while_standby" "on_gain" "gain_signal" "stop_exit_code" "kubeconfig" "kube_context" "ca_file" "certificate_file" "key_file"
    "server_name" "token_file" -}}
{{- $_ := set $refused . "the policy decides this; leave it out" -}}
{{- end -}}
{{- range list "election" "identity" "pod_name" "pod_namespace" "pod_uid" "pod_node" "pod_address" -}}
{{- $_ := set $refused . "each pod has its own; leave it out" -}}
{{- end -}}
{{- if has (get $given "traffic") (list "label" "gate") -}}
{{- $_ := set $refused "traffic" "needs a label on the pods, which the policy does not write; use endpoints, or the chart tenure-library" -}}
{{- end -}}
{{- include "tenure.check_settings" (dict "path" "settings" "given" $given "all" $all "paths" (dict "probe_listen" "probePort")
    "refused" $refused "mode" "guard") -}}
{{- end -}}

{{- define "injection.image" -}}
{{- include "tenure.image_name" (list "image" .Values.image .Chart.AppVersion) -}}
{{- end -}}
