{{- define "signpost.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "signpost.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "signpost.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "signpost.selector" -}}
app.kubernetes.io/name: {{ include "signpost.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "signpost.labels" -}}
{{ include "signpost.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "signpost.secret" -}}
{{- .Values.secrets.existingSecret | default (include "signpost.fullname" .) -}}
{{- end -}}

{{- define "signpost.claim" -}}
{{- .Values.database.sqlite.existingClaim | default (printf "%s-data" (include "signpost.fullname" .)) -}}
{{- end -}}

{{- define "signpost.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The address that GitLab posts to, or nothing. */}}
{{- define "signpost.publicUrl" -}}
{{- $given := dig "hook" "public_url" "" .Values.config -}}
{{- if $given -}}
{{- $given -}}
{{- else if .Values.ingress.enabled -}}
{{- printf "https://%s/hook" .Values.ingress.host -}}
{{- end -}}
{{- end -}}

{{/*
What cannot be expressed in the schema, refused before anything is installed.
*/}}
{{- define "signpost.refuse" -}}
{{- if and (eq .Values.database.kind "sqlite") (gt (int .Values.replicas) 1) -}}
{{- fail "replicas > 1 needs database.kind=postgres: one SQLite file has one writer" -}}
{{- end -}}
{{- if and (eq .Values.database.kind "postgres") (not .Values.database.postgres.existingSecret) -}}
{{- fail "database.kind=postgres needs database.postgres.existingSecret: a Secret whose key holds the postgres:// URL" -}}
{{- end -}}
{{- if not .Values.config.gitlab.url -}}
{{- fail "config.gitlab.url is missing: the address of your GitLab, e.g. https://gitlab.example.com" -}}
{{- end -}}
{{- if not .Values.config.gitlab.group -}}
{{- fail "config.gitlab.group is missing: the full path of the group to serve, e.g. acme" -}}
{{- end -}}
{{- $keys := .Values.secrets.keys -}}
{{- if not (or $keys.signingToken $keys.secretToken) -}}
{{- fail "secrets.keys: name signingToken or secretToken; without proof anybody could post hooks" -}}
{{- end -}}
{{- if not .Values.secrets.existingSecret -}}
{{- range $name := list "gitlabToken" "signingToken" "secretToken" "adminToken" "judgeKey" -}}
{{- if and (index $keys $name) (not (index $.Values.secrets.create $name)) -}}
{{- fail (printf "secrets.create.%s is empty: fill it, name secrets.existingSecret, or empty secrets.keys.%s" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host is missing: the name under which GitLab reaches the hook" -}}
{{- end -}}
{{- end -}}

{{/*
signpost.toml. JSON strings, numbers, booleans and arrays of strings are valid TOML, so `toJson` writes the leaves.
*/}}
{{- define "signpost.toml" -}}
{{- $config := deepCopy .Values.config -}}
{{- $hook := merge (dict "listen" "0.0.0.0:8080") (default dict $config.hook) -}}
{{- with include "signpost.publicUrl" . -}}{{- $_ := set $hook "public_url" . -}}{{- end -}}
{{- $_ := set $config "hook" $hook -}}
{{- $_ := set $config "admin" (dict "listen" "0.0.0.0:9090") -}}
{{- if eq .Values.database.kind "sqlite" -}}
{{- $_ := set $config "database" (dict "url" "sqlite:///var/lib/signpost/signpost.db") -}}
{{- end -}}
{{- range $section, $keys := $config }}
[{{ $section }}]
{{- range $key, $value := $keys }}
{{- if not (and (eq $section "corpus") (eq $key "docsite")) }}
{{ $key }} = {{ toJson $value }}
{{- end }}
{{- end }}
{{ end }}
{{- range $site := dig "corpus" "docsite" list $config }}
[[corpus.docsite]]
{{- range $key, $value := $site }}
{{ $key }} = {{ toJson $value }}
{{- end }}
{{ end }}
{{- end -}}
