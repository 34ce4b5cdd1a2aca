{{- define "halyard.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "halyard.labels" -}}
app.kubernetes.io/name: halyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "halyard.adminTokenSecret" -}}
{{- if not (or .Values.adminToken.existingSecret .Values.adminToken.generate) -}}
{{- fail "Set adminToken.existingSecret to a secret with a token of your own, or adminToken.generate=true if Helm itself installs the chart. What renders charts without a cluster, such as Argo CD, would generate another token each time." -}}
{{- end -}}
{{- .Values.adminToken.existingSecret | default (include "halyard.name" .) -}}
{{- end -}}

{{/* The port of management, or nothing where it shares the other one. */}}
{{- define "halyard.managementPort" -}}
{{- $port := .Values.settings.HALYARD_MANAGEMENT_PORT | default .Values.managementPort | int -}}
{{- if $port }}{{ $port }}{{ end -}}
{{- end -}}

{{/* The text of a value: Helm reads whole numbers as fractions, and would print 1048576 as 1.048576e+06. */}}
{{- define "halyard.text" -}}
{{- if kindIs "float64" . }}{{ toJson . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* The settings as variables: those of the chart, then those of the values. Those that come from secrets are left out. */}}
{{- define "halyard.settings" -}}
{{- $settings := dict "HALYARD_DRAIN_SECONDS" .Values.drainSeconds -}}
{{- with include "halyard.managementPort" . }}{{ $_ := set $settings "HALYARD_MANAGEMENT_PORT" . }}{{ end -}}
{{- if .Values.ingress.enabled -}}
{{- $address := printf "%s://%s" (ternary "https" "http" (ne .Values.ingress.tlsSecret "")) .Values.ingress.host -}}
{{- if not (include "halyard.managementPort" .) -}}
{{- $address = .Values.settings.HALYARD_PUBLIC_URL | default $address | trimSuffix "/" -}}
{{- $_ := set $settings "HALYARD_PUBLIC_URL" $address -}}
{{- end -}}
{{- $_ := set $settings "HALYARD_DOCS_URL" (printf "%s/docs" $address) -}}
{{- $_ := set $settings "HALYARD_TRUST_PROXY" "true" -}}
{{- end -}}
{{- range $variable, $value := .Values.settings -}}
{{- if has $variable (list "HALYARD_PORT" "HALYARD_DATA") }}{{ fail (printf "settings.%s: the chart needs the value that the image sets." $variable) }}{{ end -}}
{{- $_ := set $settings $variable $value -}}
{{- end -}}
{{- range $variable, $value := $settings -}}
{{- if not (hasKey $.Values.secretSettings $variable) }}
- name: {{ $variable }}
  value: {{ include "halyard.text" $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
