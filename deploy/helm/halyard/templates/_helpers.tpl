{{- define "halyard.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels by which pods are chosen. They can never change. */}}
{{- define "halyard.labels" -}}
app.kubernetes.io/name: halyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The labels of an object. */}}
{{- define "halyard.objectLabels" -}}
{{ include "halyard.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Not empty where pods share nothing: nodes on PostgreSQL, and relays. */}}
{{- define "halyard.severalPods" -}}
{{- if or .Values.database.existingSecret .Values.relay.upstreams }}yes{{ end -}}
{{- end -}}

{{- define "halyard.replicas" -}}
{{- if kindIs "invalid" .Values.replicas -}}
{{- ternary 3 1 (ne (include "halyard.severalPods" .) "") -}}
{{- else -}}
{{- int .Values.replicas -}}
{{- end -}}
{{- end -}}

{{- define "halyard.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
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
{{- if and $port (not .Values.relay.upstreams) }}{{ $port }}{{ end -}}
{{- end -}}

{{/* The secrets that are mounted as files: where, the variable that names the file, the secret, its key. One for each line. */}}
{{- define "halyard.files" -}}
{{- if .Values.relay.upstreams }}
- { folder: relay, variables: [HALYARD_RELAY_TOKEN_FILE], secret: {{ .Values.relay.existingSecret | quote }}, key: {{ .Values.relay.key | quote }} }
{{- else }}
# The second is for `halyard` commands in the container.
- { folder: halyard, variables: [HALYARD_ADMIN_TOKEN_FILE, HALYARD_TOKEN_FILE], secret: {{ include "halyard.adminTokenSecret" . | quote }}, key: {{ .Values.adminToken.key | quote }} }
{{- end }}
{{- if .Values.database.existingSecret }}
- { folder: database, variables: [HALYARD_DATABASE_URL_FILE], secret: {{ .Values.database.existingSecret | quote }}, key: {{ .Values.database.key | quote }} }
{{- end }}
{{- if .Values.metricsToken.existingSecret }}
- { folder: metrics, variables: [HALYARD_METRICS_TOKEN_FILE], secret: {{ .Values.metricsToken.existingSecret | quote }}, key: {{ .Values.metricsToken.key | quote }} }
{{- end }}
{{- if .Values.customCa.secret }}
- { folder: ca, variables: [NODE_EXTRA_CA_CERTS], secret: {{ .Values.customCa.secret | quote }}, key: ca.crt }
{{- end }}
{{- end -}}

{{/* The text of a value: Helm reads whole numbers as fractions, and would print 1048576 as 1.048576e+06. */}}
{{- define "halyard.text" -}}
{{- if kindIs "float64" . }}{{ toJson . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* The settings as variables: the chart's, then the values'. What comes from secrets is left out. */}}
{{- define "halyard.settings" -}}
{{- $settings := dict "HALYARD_DRAIN_SECONDS" .Values.drainSeconds "HALYARD_WORKERS" .Values.workers -}}
{{- if .Values.relay.upstreams }}{{ $_ := set $settings "HALYARD_UPSTREAM" (join "," .Values.relay.upstreams) }}{{ end -}}
{{- with include "halyard.managementPort" . }}{{ $_ := set $settings "HALYARD_MANAGEMENT_PORT" . }}{{ end -}}
{{- $address := "" -}}
{{- if .Values.ingress.enabled -}}
{{- $address = printf "%s://%s" (ternary "https" "http" (ne .Values.ingress.tlsSecret "")) .Values.ingress.host -}}
{{- else if .Values.gateway.enabled -}}
{{- $address = printf "https://%s" .Values.gateway.host -}}
{{- end -}}
{{- if $address -}}
{{- if not (or (include "halyard.managementPort" .) .Values.relay.upstreams) -}}
{{- $address = .Values.settings.HALYARD_PUBLIC_URL | default $address | trimSuffix "/" -}}
{{- $_ := set $settings "HALYARD_PUBLIC_URL" $address -}}
{{- end -}}
{{- $_ := set $settings "HALYARD_DOCS_URL" (printf "%s/docs" $address) -}}
{{- $_ := set $settings "HALYARD_TRUST_PROXY" "true" -}}
{{- end -}}
{{- range $variable, $value := .Values.settings -}}
{{- $_ := set $settings $variable $value -}}
{{- end -}}
{{- range $variable, $value := $settings -}}
{{- if not (hasKey $.Values.secretSettings $variable) }}
- name: {{ $variable }}
  value: {{ include "halyard.text" $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
