{{- define "halyard.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "halyard.labels" -}}
app.kubernetes.io/name: halyard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "halyard.adminTokenSecret" -}}
{{- .Values.adminToken.existingSecret | default (include "halyard.name" .) -}}
{{- end -}}
