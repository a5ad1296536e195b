"""What of the Prometheus operator's resources the chart uses, as strict schemas.

Kubernetes' own schemas do not know these kinds, and the operator's are not to be had offline.
"""

TEXT = {"type": "string", "minLength": 1}
LABELS = {"type": "object", "additionalProperties": {"type": "string"}}
DURATION = {"type": "string", "pattern": r"^([0-9]+(ms|[smhdwy]))+$"}


def exactly(properties, required=None):
    """An object with these properties and no other."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(properties) if required is None else required,
    }


METADATA = exactly({"name": TEXT, "namespace": TEXT, "labels": LABELS, "annotations": LABELS}, ["name", "labels"])


def resource(kind, spec):
    """A resource of the operator's group."""
    head = {"apiVersion": {"const": "monitoring.coreos.com/v1"}, "kind": {"const": kind}}
    return exactly({**head, "metadata": METADATA, "spec": spec})


SCHEMAS = {
    "ServiceMonitor": resource(
        "ServiceMonitor",
        exactly(
            {
                "selector": exactly({"matchLabels": LABELS}),
                "endpoints": {
                    "type": "array",
                    "minItems": 1,
                    "items": exactly({"port": TEXT, "path": TEXT, "interval": DURATION}),
                },
            }
        ),
    ),
    "PrometheusRule": resource(
        "PrometheusRule",
        exactly(
            {
                "groups": {
                    "type": "array",
                    "minItems": 1,
                    "items": exactly(
                        {
                            "name": TEXT,
                            "rules": {
                                "type": "array",
                                "minItems": 1,
                                "items": exactly(
                                    {
                                        "alert": {"type": "string", "pattern": "^Signpost[A-Z][A-Za-z]+$"},
                                        "expr": TEXT,
                                        "for": DURATION,
                                        "labels": exactly({"severity": {"enum": ["info", "warning", "critical"]}}),
                                        "annotations": exactly({"summary": TEXT, "description": TEXT}),
                                    },
                                    ["alert", "expr", "labels", "annotations"],
                                ),
                            },
                        }
                    ),
                }
            }
        ),
    ),
}

# Every metric that Signpost exports, with its type and its labels. The alerts and the dashboard may name no other.
METRICS = {
    "signpost_hook_deliveries_total": ("counter", {"outcome"}),
    "signpost_hook_seconds": ("histogram", set()),
    "signpost_queue_threads": ("gauge", {"state"}),
    "signpost_queue_oldest_seconds": ("gauge", set()),
    "signpost_walk_outcomes_total": ("counter", {"outcome"}),
    "signpost_walk_seconds": ("histogram", set()),
    "signpost_gitlab_requests_total": ("counter", {"endpoint", "status"}),
    "signpost_gitlab_seconds": ("histogram", set()),
    "signpost_corpus_sections": ("gauge", set()),
    "signpost_corpus_projects": ("gauge", {"state"}),
    "signpost_gaps": ("gauge", {"state"}),
    "signpost_token_expires_timestamp_seconds": ("gauge", set()),
    "signpost_breaker_open": ("gauge", set()),
    "signpost_budget_remaining": ("gauge", set()),
}


def series():
    """The names under which the metrics are scraped, with their labels."""
    for name, (kind, labels) in METRICS.items():
        if kind == "histogram":
            yield f"{name}_bucket", labels | {"le"}
            yield f"{name}_sum", labels
            yield f"{name}_count", labels
        else:
            yield name, labels
