{{/*
tenure.check_settings: what `tenure check` refuses and a schema cannot say, before an object exists: tests/helm holds both
together. Takes
  path     where `given` is, for messages
  given    settings of the user, by their names in docs/configuration.md
  all      these, and what else the agent is told
  paths    the values that others in `all` come from, by the setting's name
  refused  why the user cannot give a setting, by its name
  mode     how the workload is stopped
*/}}
{{- define "tenure.check_settings" -}}
{{- $stores := include "tenure.stores_of" . | fromYaml -}}
{{- range $key, $value := .given -}}
{{- with get $.refused $key -}}
{{- fail (printf "%s.%s: %s" $.path $key .) -}}
{{- end -}}
{{- if and (hasKey $stores $key) (not (has $.all.store (get $stores $key))) -}}
{{- fail (printf "%s.%s: %s has no such setting; it is for %s" $.path $key $.all.store (join " and " (get $stores $key))) -}}
{{- end -}}
{{- end -}}
{{- include "tenure.check_company" . -}}
{{- include "tenure.check_ranges" . -}}
{{- include "tenure.check_budget" . -}}
{{- end -}}

{{/* tenure.path_of (list IT KEY): where a setting is said, for messages. */}}
{{- define "tenure.path_of" -}}
{{- $it := index . 0 -}}
{{- hasKey $it.given (index . 1) | ternary (printf "%s.%s" $it.path (index . 1)) (get $it.paths (index . 1)) -}}
{{- end -}}

{{/* tenure.check_company: settings that need, or do not go with, others. */}}
{{- define "tenure.check_company" -}}
{{- $checks := list "health_http" "health_command" "health_file" -}}
{{- $checked := false -}}
{{- range $checks -}}{{- if hasKey $.all . -}}{{- $checked = true -}}{{- end -}}{{- end -}}
{{- range $key, $value := .given -}}
{{- if and (hasPrefix "health_" $key) (not $checked) -}}
{{- fail (printf "%s.%s: nothing is checked; give health_http, health_command or health_file, or leave it out" $.path $key) -}}
{{- end -}}
{{- if and (eq $key "health_file_age") (not (hasKey $.all "health_file")) -}}
{{- fail (printf "%s.%s: needs health_file, which is not given" $.path $key) -}}
{{- end -}}
{{- $is_hook := has $key (list "gain_http" "gain_command" "gain_file" "stop_http" "stop_command") -}}
{{- if and $is_hook (not (has $.mode (list "signal" "exit-code"))) -}}
{{- fail (printf "%s.%s: hooks are for a workload that Tenure does not run itself, and in mode %s it does; leave it out" $.path $key $.mode) -}}
{{- end -}}
{{- if and (hasPrefix "stop_" $key) $is_hook (eq $.mode "signal") -}}
{{- fail (printf "%s.%s: in mode signal the workload is stopped by its signal, and killed; leave it out" $.path $key) -}}
{{- end -}}
{{- if and (hasPrefix "gain_" $key) $is_hook (eq $.mode "signal") (ne (get $.all "while_standby" | default "stop") "run") -}}
{{- fail (printf "%s.%s: with whileStandby stop, what begins while we are active needs no telling; leave it out" $.path $key) -}}
{{- end -}}
{{- if and (eq $key "target_uid") (ne $.mode "signal") -}}
{{- fail (printf "%s.%s: is for mode signal" $.path $key) -}}
{{- end -}}
{{- end -}}
{{- if and (eq (get .all "preempt" | toString) "true") (gt (int (get .all "slots" | default 1)) 1) -}}
{{- fail (printf "%s.preempt: a holder makes way for others only if it is the only one, and there are %d slots" .path (int .all.slots)) -}}
{{- end -}}
{{- $listen := get .all "listen" | default "127.0.0.1:4040" | toString -}}
{{- $probes := get .all "probe_listen" | default "0.0.0.0:8081" -}}
{{- if eq (regexFind "[0-9]+$" $listen) (regexFind "[0-9]+$" $probes) -}}
{{- fail (printf "%s: is the port of the API, too: give one of them another, with the setting listen" (include "tenure.path_of" (list . "probe_listen") | default "probePort")) -}}
{{- end -}}
{{- end -}}

{{- define "tenure.check_ranges" -}}
{{- $ranges := include "tenure.ranges" . | fromYaml -}}
{{- range $key, $value := .all -}}
{{- with get $ranges $key -}}
{{- $bounds := list -}}
{{- range . -}}
{{- $usual := get (dict "ttl" "15s" "health_interval" "2s") . | default . -}}
{{- $bounds = append $bounds (get $.all . | default $usual) -}}
{{- end -}}
{{- $time := include "tenure.milliseconds" $value | float64 -}}
{{- $least := include "tenure.milliseconds" (first $bounds) | float64 -}}
{{- $most := include "tenure.milliseconds" (last $bounds) | float64 -}}
{{- if or (lt $time $least) (gt $time $most) -}}
{{- fail (printf "%s: is %s; it must be from %s to %s" (include "tenure.path_of" (list $ $key)) $value (first $bounds) (last $bounds)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* tenure.check_budget: of the lease, renewals, grace and the kill; agent/core/timing.cpp has the sums. */}}
{{- define "tenure.check_budget" -}}
{{- $ttl := include "tenure.milliseconds" (get .all "ttl" | default "15s") | float64 -}}
{{- $usual := dict "renew" (divf $ttl 3.0) "grace" (minf 2000.0 (divf $ttl 7.0)) "kill_budget" (minf 500.0 (divf $ttl 20.0)) -}}
{{- $times := dict -}}
{{- $blame := "ttl" -}}
{{- range $key := list "kill_budget" "grace" "renew" -}}
{{- if hasKey $.all $key -}}
{{- $blame = $key -}}
{{- $_ := set $times $key (include "tenure.milliseconds" (get $.all $key) | float64) -}}
{{- else -}}
{{- $_ := set $times $key (get $usual $key) -}}
{{- end -}}
{{- end -}}
{{- if and (eq .all.store "kubernetes") (lt $times.renew 1000.0) -}}
{{- $which := hasKey .all "renew" | ternary "renew" "ttl" -}}
{{- fail (printf "%s: a lease would be renewed every %.0f ms, and in Kubernetes not more often than every second; give a ttl of at least 3s, or a longer renew" (include "tenure.path_of" (list . $which)) $times.renew) -}}
{{- end -}}
{{- $drift := trimSuffix "%" (get .all "drift" | default "1%" | toString) | float64 -}}
{{- $stop_at := subf $ttl (divf (mulf $ttl $drift) 100.0) $times.kill_budget $times.grace -}}
{{- if lt (subf $stop_at $times.renew) 100.0 -}}
{{- fail (printf "%s: the time budget does not add up: of a ttl of %.0f ms, drift, kill_budget %.0f ms and grace %.0f ms leave %.0f ms, but a renewal is due after %.0f ms, and two tries of 50 ms must fit before the workload is stopped. Raise ttl, or lower grace, kill_budget or renew" (include "tenure.path_of" (list . $blame)) $ttl $times.kill_budget $times.grace $stop_at $times.renew) -}}
{{- end -}}
{{- if and (eq .mode "exit-code") (lt $times.kill_budget 3000.0) -}}
{{- fail (printf "%s: the kubelet ends the main container up to 3s after the agent; give 3s at least" (include "tenure.path_of" (list . "kill_budget"))) -}}
{{- end -}}
{{- end -}}
