#!/usr/bin/env python3
"""Holds the documentation to the program: links lead somewhere, commands exist, and those marked for it are run.

Usage: documentation.py PROGRAM

In a fenced block whose info string is `sh ci` every line is run here, unless .ci/run itself runs that very line. In
every other `sh` or `toml` block nothing is run, but a line that calls `signpost` must name a command and flags that
the program has, and TOML must parse. Ends with `N passed, N failed`.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("helm/*.md")])
# Seconds for one block.
LIMIT = 300

passed, faults = 0, []


def check(place, problem):
    """Counts one check; `problem` is None where all is well."""
    global passed
    if problem:
        faults.append(f"{place}: {problem}")
    else:
        passed += 1


def anchors(page):
    """The anchors of a page's headings, as GitLab and GitHub make them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
    found = set()
    for heading in re.findall(r"(?m)^#{1,6} +(.+?) *$", text):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


def links(page):
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        problem = None
        if not other.exists():
            problem = f"{target} leads nowhere"
        elif anchor and other.suffix == ".md" and anchor not in anchors(other):
            problem = f"{target}: no such heading"
        check(page.relative_to(ROOT), problem)


def blocks(page):
    """(line number, info string, text) of every fenced block."""
    inside, start, lines = None, 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if inside is None and line.startswith("```"):
            inside, start, lines = line[3:].strip(), number, []
        elif inside is not None and line == "```":
            yield start, inside, "\n".join(lines)
            inside = None
        else:
            lines.append(line)


class Program:
    """What the program says of itself."""

    def __init__(self, path):
        self.path, self.texts = path, {}

    def help(self, *command):
        if command not in self.texts:
            done = subprocess.run([self.path, *command, "--help"], capture_output=True, text=True, check=False)
            self.texts[command] = done.stdout if done.returncode == 0 else ""
        return self.texts[command]

    def commands(self):
        _, _, rest = self.help().partition("Commands:")
        return set(re.findall(r"(?m)^  ([a-z][a-z-]*)(?: |$)", rest.partition("\n\n")[0]))

    def problem(self, words):
        """What is wrong with these arguments, or None."""
        command = next((word for word in words if not word.startswith("-")), None)
        if command is None:
            known = self.help()
        elif command not in self.commands():
            return f"there is no command `signpost {command}`"
        else:
            known = self.help(command)
        for word in words:
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag != "--" and not re.search(rf"(?<!\S){re.escape(flag)}(?![\w-])", known):
                return f"`signpost {command or ''}` has no {flag}"
        return None


def calls(line):
    """The argument lists of the calls of signpost in a line of shell."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = list(lexer)
    except ValueError:
        return
    current, started = None, True
    for word in words:
        if set(word) <= set(";&|<>()"):
            if current is not None:
                yield current
            current, started = None, set(word) <= set(";&|(")
        elif current is not None:
            current.append(word)
        elif started and word in ("signpost", "--"):
            current = [] if word == "signpost" else None
        elif started and not re.match(r"[A-Z_]+=", word) and word != "sudo":
            started = False
    if current is not None:
        yield current


def shell(page, start, text, program):
    place = f"{page.relative_to(ROOT)}:{start}"
    for line in text.replace("\\\n", " ").splitlines():
        for words in calls(line):
            check(place, program.problem(words))


def run(page, start, text, program):
    place = f"{page.relative_to(ROOT)}:{start}"
    steps = (ROOT / ".ci/run").read_text().replace(" --locked", "")
    left = [line for line in text.splitlines() if line.strip() and line.split(" #")[0].strip() not in steps]
    if not left:
        check(place, None)
        return
    print(f"running {place}", flush=True)
    environment = os.environ | {"PATH": f"{Path(program.path).resolve().parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", "\n".join(left)], cwd=ROOT, env=environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )
        try:
            status = process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            status = f"none after {LIMIT} s"
        finally:
            # What the commands started and left behind, a server say, ends with them.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        check(place, None if status == 0 else f"exit code {status}\n{output.read()[-2000:]}")


def toml(page, start, text):
    try:
        tomllib.loads(text)
        problem = None
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
    check(f"{page.relative_to(ROOT)}:{start}", problem)


def main():
    program = Program(sys.argv[1])
    marked = 0
    for page in PAGES:
        links(page)
        for start, info, text in blocks(page):
            language, _, mark = info.partition(" ")
            if language == "sh":
                shell(page, start, text, program)
                if mark == "ci":
                    marked += 1
                    run(page, start, text, program)
            elif language == "toml":
                toml(page, start, text)
    check("README.md", None if marked >= 2 else "its two commands are not marked `sh ci`")
    for fault in faults:
        print(f"FAILED {fault}")
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
