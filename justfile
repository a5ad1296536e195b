# The things one does here. `just` alone lists them; each is one line that can be typed without just.

cache := env("XDG_CACHE_HOME", env("HOME") / ".cache") / "signpost-ci"

# List what can be done
@list:
    just --list --unsorted

# See it work: a fake GitLab, three issues, the threads as people see them
demo *ARGS:
    cargo run --example demo -- {{ ARGS }}

# The test suite, on SQLite and Postgres
test *FILTER:
    ./test/run {{ FILTER }}

# Everything that must hold before a change lands
ci *STEPS:
    .ci/run {{ STEPS }}

# Format
fmt:
    cargo fmt --all

# What the compiler's advisers say
lint:
    cargo clippy --locked --workspace --all-targets -- -D warnings

# The documentation of the code, in the browser
doc:
    cargo doc --no-deps --document-private-items --open

# Check the Helm chart; `just chart --update` accepts the new renders
chart *ARGS:
    .ci/run tools
    {{ cache }}/venv/bin/python helm/tests/check.py {{ ARGS }}

# Plant faults in a copy, and see that a test notices each
mutants *NAMES:
    nice python3 test/mutants.py {{ NAMES }}

# Measure
bench *ARGS:
    cargo bench --locked {{ ARGS }}

# The image, on a distroless base
image:
    podman build -t signpost .
