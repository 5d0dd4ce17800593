#!/bin/bash
# Inference of maskfit and of PyTorch on one machine, batch 1 and 32, bf16 and fp16:
#   bench/infer_speed.sh INFER_SPEED_PROGRAM PYTHON [--device cuda --size 960x544 ...]
# Prints each run's JSON line and, last, a table. BATCHES and PRECISIONS choose others.
set -euo pipefail
program=$1 python=$2
shift 2
here=$(dirname "${BASH_SOURCE[0]}")
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for precision in ${PRECISIONS:-bf16 fp16}; do
  for batch in ${BATCHES:-1 32}; do
    "$program" --precision "$precision" --batch "$batch" "$@" | tee -a "$lines"
    "$python" "$here/pytorch_infer.py" --precision "$precision" --batch "$batch" "$@" | tee -a "$lines"
  done
done
"$python" - "$lines" <<'PY'
import json, sys
print("| precision | batch | who | img/s (min - max) |\n|---|---|---|---|")
for line in open(sys.argv[1]):
    r = json.loads(line)
    print(f"| {r['precision']} | {r['batch']} | {r['what']}, {r['launch']} | "
          f"{r['images_per_second']:,.0f} ({r['min']:,.0f} - {r['max']:,.0f}) |")
PY
