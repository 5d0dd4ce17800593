#!/bin/bash
# The training step of maskfit and of PyTorch eager, in turns on one machine:
#   bench/train_step.sh TRAIN_STEP_PROGRAM PYTHON [--device cuda --precision bf16 --size 960x544 --batch 24 ...]
# Prints each run's JSON line and, last, the ratio of the medians. ROUNDS=N repeats (default 3).
set -euo pipefail
program=$1 python=$2
shift 2
here=$(dirname "${BASH_SOURCE[0]}")
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for _ in $(seq "${ROUNDS:-3}"); do
  "$program" "$@" | tee -a "$lines"
  "$python" "$here/pytorch_step.py" "$@" | tee -a "$lines"
done
"$python" - "$lines" <<'PY'
import json, statistics, sys
rates = {}
for line in open(sys.argv[1]):
    record = json.loads(line)
    rates.setdefault(record["what"], []).append(record["images_per_second"])
ours, theirs = statistics.median(rates["maskfit"]), statistics.median(rates["pytorch_eager"])
print(f"maskfit {ours:.2f} img/s, PyTorch eager {theirs:.2f} img/s, ratio {ours / theirs:.3f}")
PY
