{{/*
tenure.fill (list VALUES DEFAULTS): changes VALUES, so that each key has a value of the kind that its default has. Null is what is
not said; a text such as "2" or "true" is what `--set-string` and GitOps tools make of a number or a boolean.
*/}}
{{- define "tenure.fill" -}}
{{- $values := index . 0 -}}
{{- range $key, $default := index . 1 -}}
{{- $value := index $values $key -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := set $values $key $default -}}
{{- else if kindIs "map" $default -}}
{{- include "tenure.fill" (list $value $default) -}}
{{- else if and (kindIs "string" $value) (has (kindOf $default) (list "bool" "invalid")) -}}
{{- $_ := set $values $key (eq $value "true") -}}
{{- else if and (kindIs "string" $value) (kindIs "float64" $default) -}}
{{- $_ := set $values $key (int64 $value) -}}
{{- else if and (kindIs "string" $default) (not (kindIs "string" $value)) -}}
{{- $_ := set $values $key (include "tenure.text" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* tenure.is_enabled VALUES: a chart cannot leave itself out. */}}
{{- define "tenure.is_enabled" -}}
{{- if not .enabled -}}
{{- fail "enabled: only the `condition` of a dependency looks at it; to have nothing installed, write `condition: NAME.enabled` in Chart.yaml of the chart that depends on this one" -}}
{{- end -}}
{{- end -}}

{{/* tenure.text VALUE: as it was written; Helm keeps 20000000 as 2e+07. */}}
{{- define "tenure.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* tenure.texts MAP: labels or annotations, whose values are texts whatever they look like. */}}
{{- define "tenure.texts" -}}
{{- range $key, $value := . }}
{{ $key | quote }}: {{ include "tenure.text" $value | quote }}
{{- end }}
{{- end -}}

{{/* tenure.image_name (list PATH IMAGE TAG): of the values IMAGE at PATH; TAG if they have none. */}}
{{- define "tenure.image_name" -}}
{{- $path := index . 0 -}}
{{- $image := index . 1 -}}
{{- $name := $image.repository | required (printf "%s.repository: give the image" $path) -}}
{{- $is_whole := or (contains "@" $name) (regexMatch ":[^/]*$" $name) -}}
{{- if and $is_whole (or $image.tag $image.digest) -}}
{{- fail (printf "%s: the repository %q has a tag or a digest already; leave tag and digest out" $path $name) -}}
{{- end -}}
{{- $tag := $image.tag | default (index . 2) -}}
{{- if $is_whole -}}
{{- $name -}}
{{- else if $image.digest -}}
{{- $name }}@{{ $image.digest -}}
{{- else if $tag -}}
{{- $name }}:{{ $tag -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{/* tenure.milliseconds DURATION: as a float. */}}
{{- define "tenure.milliseconds" -}}
{{- $units := dict "us" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(us|ms|s|m|h)" . -1 -}}
{{- $sum = addf $sum (mulf (regexFind "^[0-9.]+" . | float64) (get $units (regexFind "[a-z]+$" .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* tenure.seconds DURATION: in whole seconds, rounded up. */}}
{{- define "tenure.seconds" -}}
{{- ceil (divf (include "tenure.milliseconds" . | float64) 1000.0) -}}
{{- end -}}
