#!/usr/bin/env python3
"""Holds the dependency tree to deny.toml: licences, banned crates, sources. Offline; needs cargo alone.

Usage: dependencies.py [ROOT]
"""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path


def allowed(expression, allow):
    """Whether an SPDX expression can be satisfied by the allowed licences."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    place = 0

    def term():
        nonlocal place
        token = tokens[place]
        place += 1
        if token == "(":
            value = alternatives()
            place += 1
            return value
        if place < len(tokens) and tokens[place] == "WITH":
            token += " WITH " + tokens[place + 1]
            place += 2
        return token in allow

    def conjunction():
        nonlocal place
        value = term()
        while place < len(tokens) and tokens[place] == "AND":
            place += 1
            value = term() and value
        return value

    def alternatives():
        nonlocal place
        value = conjunction()
        while place < len(tokens) and tokens[place] == "OR":
            place += 1
            value = conjunction() or value
        return value

    return alternatives()


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    rules = tomllib.loads((root / "deny.toml").read_text())
    allow = set(rules["licenses"]["allow"])
    banned = {entry["name"]: entry["reason"] for entry in rules["bans"]["deny"]}
    # `cargo tree` and not `cargo metadata`, which also lists what no feature in use asks for.
    tree = subprocess.run(
        ["cargo", "tree", "--locked", "--workspace", "--target", rules["graph"]["targets"][0],
         "--edges", "normal,build,dev", "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"],
        cwd=root, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    faults, packages = [], sorted(set(filter(None, tree.splitlines())))
    for package in packages:
        name, licence = package.split("|")
        places = [place for place in re.findall(r"\(([^)]*)\)", name) if place not in ("proc-macro", "*")]
        if not licence:
            faults.append(f"{name}: no licence")
        elif not allowed(licence, allow):
            faults.append(f"{name}: licence {licence} is not on the list")
        if name.split()[0] in banned:
            faults.append(f"{name}: banned: {banned[name.split()[0]]}")
        if any(not Path(place).resolve().is_relative_to(root) for place in places):
            faults.append(f"{name}: comes from elsewhere than crates.io")
    for fault in faults:
        print(fault)
    versions = Counter(name for name, _ in {tuple(package.split("|")[0].split()[:2]) for package in packages})
    twice = sorted(name for name, count in versions.items() if count > 1)
    print(f"{len(twice)} crates in more than one version: {', '.join(twice)}")
    print(f"{len(packages)} packages, {len(faults)} against deny.toml")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
