#!/usr/bin/env python3
"""Checks the chart: lint, golden renders, schemas, promises, refusals, metric names.

Usage: check.py [--update]      (--update writes the golden renders instead of comparing them)

Needs the packages of requirements.txt, and nothing from the network. Ends with `N passed, N failed`.
"""

import difflib
import json
import re
import sys
import tomllib
from pathlib import Path

import helm_python as helm
import jsonschema
import kubernetes_validate
import promql_parser
import yaml

import monitoring

TESTS = Path(__file__).resolve().parent
CHART = TESTS.parent
ROOT = CHART.parent
KUBERNETES = ["1.27", "1.30", "1.34"]

passed, failed = 0, 0


def check(name, function):
    """Runs one check; an exception is its failure."""
    global passed, failed
    try:
        function()
    except Exception as error:  # noqa: BLE001: whatever it is, it is the check's verdict
        failed += 1
        print(f"FAILED {name}\n  " + (str(error) or repr(error)).replace("\n", "\n  "))
    else:
        passed += 1
        print(f"ok     {name}")


def case(name):
    return yaml.safe_load((TESTS / "cases" / f"{name}.yaml").read_text())


def render(values):
    with helm.Chart.load(CHART) as chart:
        return chart.render(values=values, name="signpost", namespace="docs", is_install=True)


def documents(values):
    for template, text in sorted(render(values).items()):
        if template.endswith("NOTES.txt"):
            continue
        for document in yaml.safe_load_all(text):
            if document is not None:
                yield document


def by_kind(values):
    """{(kind, name): document}; a name given twice is a fault."""
    found = {}
    for document in documents(values):
        key = (document["kind"], document["metadata"]["name"])
        assert key not in found, f"{key} is rendered twice"
        found[key] = document
    return found


CASES = sorted(path.stem for path in (TESTS / "cases").glob("*.yaml"))


# Lint


def lint(values):
    report = helm.lint(CHART, values, strict=True, kube_version="v1.30.0")
    bad = [m for m in report["messages"] if m["severity"] >= 2] + report["errors"]
    assert not bad, "\n".join(map(str, bad))


# Golden renders


def golden(name, update):
    parts = []
    for template, text in sorted(render(case(name)).items()):
        text = text.strip()
        if template.endswith("dashboard.yaml"):  # judged by `dashboard`, and not worth telling twice
            text = text.partition("signpost.json: |")[0]
        if text:
            parts.append(f"# Source: {template}\n{text}\n")
    text = "---\n".join(parts)
    path = TESTS / "golden" / f"{name}.yaml"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return
    assert path.exists(), f"{path.name} is missing; run with --update and read the diff"
    difference = list(
        difflib.unified_diff(path.read_text().splitlines(), text.splitlines(), "golden", "rendered", lineterm="")
    )
    assert not difference, "\n".join(difference[:60]) + "\nrun with --update and read the diff"


# Schemas


def schemas(name, version):
    for document in documents(case(name)):
        own = monitoring.SCHEMAS.get(document["kind"])
        if own:
            jsonschema.validate(document, own)
        else:
            kubernetes_validate.validate(document, version, strict=True)


# Promises


def pod(values):
    [deployment] = [d for (kind, _), d in by_kind(values).items() if kind == "Deployment"]
    return deployment["spec"]["template"]["spec"]


def hardened(name):
    spec = pod(case(name))
    assert spec["automountServiceAccountToken"] is False
    security = spec["securityContext"]
    assert security["runAsNonRoot"] is True and security["runAsUser"] > 0
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in spec["containers"]:
        own = container["securityContext"]
        assert own["readOnlyRootFilesystem"] is True
        assert own["allowPrivilegeEscalation"] is False
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()
        assert container["resources"]["limits"]["memory"]
        secrets = ["GITLAB_TOKEN", "SIGNING_TOKEN", "SECRET_TOKEN", "ADMIN_TOKEN", "JUDGE_KEY"]
        for variable in container["env"]:
            assert variable["name"] not in [f"SIGNPOST_{s}" for s in secrets], "secrets come as files"


def mounts_exist(name):
    spec = pod(case(name))
    volumes = {volume["name"] for volume in spec["volumes"]}
    mounts = {mount["name"] for container in spec["containers"] for mount in container["volumeMounts"]}
    assert volumes == mounts, f"{volumes} and {mounts} differ"


def selectors_match(name):
    found = by_kind(case(name))
    [deployment] = [d for (kind, _), d in found.items() if kind == "Deployment"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    for (kind, _), document in found.items():
        spec = document.get("spec", {})
        selector = {
            "Service": lambda: spec["selector"],
            "NetworkPolicy": lambda: spec["podSelector"]["matchLabels"],
            "PodDisruptionBudget": lambda: spec["selector"]["matchLabels"],
            "Deployment": lambda: spec["selector"]["matchLabels"],
        }.get(kind)
        if selector:
            missing = selector().items() - labels.items()
            assert not missing, f"{kind} selects {missing}, which the pods do not carry"


def only_the_hook_is_public():
    found = by_kind(case("replicas"))
    [ingress] = [d for (kind, _), d in found.items() if kind == "Ingress"]
    paths = [path for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]]
    assert [(p["path"], p["pathType"]) for p in paths] == [("/hook", "Exact")], paths
    backend = paths[0]["backend"]["service"]
    service = found["Service", backend["name"]]
    ports = [port["targetPort"] for port in service["spec"]["ports"]]
    assert ports == ["hook"], "the published Service carries the hook's port alone"
    assert not any(kind == "Ingress" for kind, _ in by_kind(case("minimal"))), "published only when asked for"


def sqlite_has_one_writer():
    for values, strategy in [(case("minimal"), "Recreate"), (case("replicas"), "RollingUpdate")]:
        [deployment] = [d for (kind, _), d in by_kind(values).items() if kind == "Deployment"]
        assert deployment["spec"]["strategy"]["type"] == strategy


def config(name):
    [text] = [
        document["data"]["signpost.toml"]
        for document in documents(case(name))
        if document["kind"] == "ConfigMap" and "signpost.toml" in document["data"]
    ]
    return tomllib.loads(text)


def config_is_what_was_said(name):
    said, written = case(name)["config"], config(name)
    for section, keys in said.items():
        for key, value in keys.items():
            assert written[section][key] == value, f"{section}.{key}: {written[section][key]!r} is not {value!r}"
            assert type(written[section][key]) is type(value), f"{section}.{key} changed its type"
    assert written["hook"]["listen"] == "0.0.0.0:8080" and written["admin"]["listen"] == "0.0.0.0:9090"


def no_secret_in_the_config(name):
    text = json.dumps(config(name))
    for value in (case(name).get("secrets", {}).get("create") or {}).values():
        assert value not in text


def notes():
    for name in CASES:
        values = case(name)
        [text] = [text for template, text in render(values).items() if template.endswith("NOTES.txt")] or [""]
        if text:
            assert "signpost install --hook-url" in text and "signpost check" in text


# Refusals


def refused(values, message):
    try:
        render(values)
    except helm.HelmError as error:
        assert re.search(message, str(error)), f"refused, but for another reason: {error}"
        return
    raise AssertionError("rendered, and should have been refused")


def changed(name, path, value):
    values = case(name)
    *parents, last = path.split(".")
    place = values
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return values


REFUSALS = [
    ("two replicas on sqlite", changed("minimal", "replicas", 2), "one SQLite file has one writer"),
    ("postgres without its address", changed("minimal", "database.kind", "postgres"), "existingSecret"),
    ("no address of GitLab", changed("minimal", "config.gitlab.url", ""), "config.gitlab.url is missing"),
    ("no group", changed("minimal", "config.gitlab.group", ""), "config.gitlab.group is missing"),
    ("no proof of the hook", changed("minimal", "secrets.keys", {"signingToken": ""}), "anybody could post hooks"),
    ("an empty secret", changed("created-secret", "secrets.create.gitlabToken", ""), "gitlabToken is empty"),
    ("an ingress without a host", changed("minimal", "ingress.enabled", True), "ingress.host is missing"),
    ("an unknown value", changed("minimal", "replica", 2), "replica"),
    ("an unknown nested value", changed("minimal", "metrics.rules.enable", True), "enable"),
    ("an unknown key of signpost.toml", changed("minimal", "config.answer.max_wrongs", 0.1), "max_wrongs"),
    ("a secret in the configuration", changed("minimal", "config.gitlab.token", "glpat-x"), "token"),
    ("GitLab without TLS", changed("minimal", "config.gitlab.url", "http://gitlab.example.com"), "url"),
    ("an unknown generator", changed("replicas", "config.corpus.docsite", [{"url": "https://d.example.com/", "project": "a/b", "generator": "word"}]), "generator"),
    ("an error rate of one", changed("minimal", "config.answer.max_wrong", 1), "max_wrong"),
]


# Metric names


def metrics_exist(expression):
    known = dict(monitoring.series())

    def visit(node):
        if isinstance(node, promql_parser.MatrixSelector):
            node = node.vector_selector
        if isinstance(node, promql_parser.VectorSelector):
            assert node.name in known, f"{node.name} is no metric of Signpost: {expression}"
            given = {matcher.name for matcher in node.matchers.matchers} - {"namespace", "service"}
            assert given <= known[node.name], f"{node.name} has no label {given - known[node.name]}: {expression}"
        return True

    promql_parser.walk(promql_parser.parse(expression), visit)
    return set(re.findall(r"signpost_[a-z_]+", expression))


def alerts():
    found = by_kind(case("replicas"))
    [rule] = [d for (kind, _), d in found.items() if kind == "PrometheusRule"]
    names = set()
    for entry in rule["spec"]["groups"][0]["rules"]:
        metrics_exist(entry["expr"])
        assert 'namespace="docs", service="signpost-admin"' in entry["expr"], entry["alert"]
        names.add(entry["alert"])
    assert ("Service", "signpost-admin") in found
    wanted = {"HookSilent", "BuriedThreads", "GitLabErrors", "CorpusEmpty", "TokenExpiring", "BreakerOpen"}
    assert {f"Signpost{name}" for name in wanted} <= names, names


def dashboard():
    board = json.loads((CHART / "dashboards/signpost.json").read_text())
    ids, used = set(), set()
    for panel in board["panels"]:
        assert panel["id"] not in ids, "panel ids are unique"
        ids.add(panel["id"])
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        for target in panel.get("targets", []):
            used |= metrics_exist(target["expr"].replace("$__rate_interval", "5m"))
    for name in monitoring.METRICS:
        assert any(metric.startswith(name) for metric in used), f"{name} is on no panel"


def metrics_are_the_programs():
    """Each metric that the chart builds on is one that the program registers."""
    source = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.rs"))
    missing = [m for m in monitoring.METRICS if m.removesuffix("_total") not in source]
    assert not missing, f"the program does not know {missing}"


# One configuration, told in three places


def same_keys_as_the_example():
    """The chart's schema knows every key of signpost.example.toml, set or commented out, and no other."""
    text = (ROOT / "signpost.example.toml").read_text()
    example, section = set(), None
    for line in text.splitlines():
        if head := re.fullmatch(r"(?:# )?\[\[?([a-z.]+)\]\]?", line):
            section = head[1]
        elif key := re.match(r"(?:# )?([a-z_]+) = ", line):
            example.add(f"{section}.{key[1]}")
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]["config"]["properties"]
    chart = {"hook.listen", "admin.listen", "database.url"}
    for name, part in schema.items():
        for key, value in part["properties"].items():
            if name == "corpus" and key == "docsite":
                chart |= {f"corpus.docsite.{k}" for k in value["items"]["properties"]}
            else:
                chart.add(f"{name}.{key}")
    assert example == chart, f"only in the example: {example - chart}; only in the chart: {chart - example}"


def example_is_toml():
    text = (ROOT / "signpost.example.toml").read_text()
    tomllib.loads(text)
    commented = re.sub(r"(?m)^# (?=(\[\[?[a-z.]+\]\]?$)|([a-z_]+ = ))", "", text)
    tomllib.loads(commented)


def same_version():
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == cargo, f"chart {chart['appVersion']}, program {cargo}"


def main():
    update = "--update" in sys.argv[1:]
    check("lint: default values", lambda: lint(None))
    for name in CASES:
        check(f"lint: {name}", lambda: lint(case(name)))
        check(f"golden: {name}", lambda: golden(name, update))
        for version in KUBERNETES:
            check(f"schema: {name} on Kubernetes {version}", lambda: schemas(name, version))
        for promise in [hardened, mounts_exist, selectors_match, config_is_what_was_said, no_secret_in_the_config]:
            check(f"{promise.__name__}: {name}", lambda: promise(name))
    for promise in [only_the_hook_is_public, sqlite_has_one_writer, notes, alerts, dashboard]:
        check(promise.__name__, promise)
    for what, values, message in REFUSALS:
        check(f"refused: {what}", lambda: refused(values, message))
    for promise in [metrics_are_the_programs, example_is_toml, same_keys_as_the_example, same_version]:
        check(promise.__name__, promise)
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
