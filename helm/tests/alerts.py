#!/usr/bin/env python3
"""Lets time pass over the chart's alerts: each one goes off when it should, and only then.

Usage: alerts.py PROMTOOL
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

import check

OF = 'namespace="docs", service="signpost-admin"'


def series(name, values, **labels):
    """A metric of the release, one value a minute in promtool's notation."""
    more = "".join(f', {key}="{value}"' for key, value in labels.items())
    return {"series": f"signpost_{name}{{{OF}{more}}}", "values": values}


HEALTHY = series("corpus_sections", "10x10000")
HOOKS, GITLAB = "hook_deliveries_total", "gitlab_requests_total"

# (what happens, when one looks, the alert, its severity or None where it must keep still). Time begins on a Thursday.
CASES = [
    ([series(HOOKS, "5x6000", outcome="accepted")], "27h", "HookSilent", "warning"),
    ([series(HOOKS, "0+1x6000", outcome="accepted")], "27h", "HookSilent", None),
    # A Monday: the day before was no working day.
    ([series(HOOKS, "5x8000", outcome="accepted")], "100h", "HookSilent", None),
    ([series(HOOKS, "0+1x100", outcome="unproven")], "1h", "HookRefused", "critical"),
    ([series(HOOKS, "0+1x100", outcome="accepted")], "1h", "HookRefused", None),
    # One event an hour, each refused; and nothing that GitLab was told it is fine.
    ([series(HOOKS, "0x60 1x60 2x60 3x60", outcome="unproven")], "150m", "HookRefused", "critical"),
    (
        [series(HOOKS, "0+1x6000", outcome="unproven"), series(HOOKS, "0x6000", outcome="accepted")],
        "27h", "HookSilent", "warning",
    ),
    ([series("queue_threads", "1x100", state="buried")], "10m", "BuriedThreads", "warning"),
    ([series("queue_threads", "9x100", state="ready")], "10m", "BuriedThreads", None),
    ([series("queue_oldest_seconds", "700x100")], "20m", "QueueStuck", "warning"),
    ([series("queue_oldest_seconds", "60x100")], "20m", "QueueStuck", None),
    (
        [
            series(GITLAB, "0+8x100", endpoint="issue", status="200"),
            series(GITLAB, "0+1x100", endpoint="issue", status="503"),
            series(GITLAB, "0+1x100", endpoint="issue", status="timeout"),
        ],
        "40m", "GitLabErrors", "warning",
    ),
    # "Not there" is an answer, not an error.
    (
        [
            series(GITLAB, "0+1x100", endpoint="file", status="200"),
            series(GITLAB, "0+9x100", endpoint="file", status="404"),
        ],
        "40m", "GitLabErrors", None,
    ),
    ([series(GITLAB, "0+1x100", endpoint="issue", status="401")], "40m", "TokenRefused", "critical"),
    ([series("token_expires_timestamp_seconds", "1000000x100")], "1m", "TokenExpiring", "warning"),
    ([series("token_expires_timestamp_seconds", "2000000x100")], "1m", "TokenExpiring", None),
    # 0 stands for a token that does not expire.
    ([series("token_expires_timestamp_seconds", "0x100")], "1m", "TokenExpiring", None),
    ([series("corpus_sections", "0x100")], "40m", "CorpusEmpty", "critical"),
    ([HEALTHY], "40m", "CorpusEmpty", None),
    ([HEALTHY], "40m", "Absent", None),
    ([series("breaker_open", "1x100")], "1m", "BreakerOpen", "warning"),
    ([series("breaker_open", "0x100")], "1m", "BreakerOpen", None),
    ([series("budget_remaining", "0x100")], "90m", "BudgetExhausted", "info"),
    ([series("budget_remaining", "3x100")], "90m", "BudgetExhausted", None),
    ([], "20m", "Absent", "critical"),
]


def rules():
    """The rules as the chart renders them, without their annotations, which promtool would compare word for word."""
    [rule] = [d for d in check.documents(check.case("replicas")) if d["kind"] == "PrometheusRule"]
    for entry in rule["spec"]["groups"][0]["rules"]:
        del entry["annotations"]
    return rule["spec"]


def test(happening, at, alert, severity):
    labels = {"severity": severity}
    if alert == "Absent":
        labels |= {"namespace": "docs", "service": "signpost-admin"}
    return {
        "interval": "1m",
        "input_series": happening or [{"series": "up", "values": "1x100"}],
        "alert_rule_test": [
            {"eval_time": at, "alertname": f"Signpost{alert}", "exp_alerts": [{"exp_labels": labels}] if severity else []}
        ],
    }


def main():
    promtool, spec = sys.argv[1], rules()
    alerts = {entry["alert"].removeprefix("Signpost") for entry in spec["groups"][0]["rules"]}
    failed = [f"{alert} is never seen to go off" for alert in alerts - {case[2] for case in CASES if case[3]}]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rules.yaml").write_text(yaml.safe_dump(spec))
        for number, case in enumerate(CASES):
            path = Path(folder) / f"{number}.yaml"
            path.write_text(
                yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test(*case)]})
            )
            done = subprocess.run([promtool, "test", "rules", path], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                failed.append(f"{case[2]} at {case[1]}\n{done.stdout}{done.stderr}")
    for fault in failed:
        print(f"FAILED {fault}")
    print(f"{len(CASES) + len(alerts) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
