#!/bin/sh
# judge.sh MODULES SCRIPT PROGRAM: runs a Python script that judges files written by PROGRAM, with an interpreter that has
# the MODULES (separated by commas). Interpreters are looked for in $MASKFIT_JUDGE_PYTHON (several separated by colons), then
# in .venv of the checkout. Exits 77, which CTest counts as skipped, where none has them.
modules=$1 script=$2 program=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
old_ifs=$IFS
IFS=:
for python in $MASKFIT_JUDGE_PYTHON "$root/.venv/bin/python"; do
  IFS=$old_ifs
  if [ -x "$python" ] && "$python" -c "import $modules" >/dev/null 2>&1; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    "$python" "$script" "$program" "$folder"
    exit $?
  fi
done
echo "skipped: no Python with $modules; set MASKFIT_JUDGE_PYTHON to one, or: python3 -m venv .venv && .venv/bin/pip install" \
  "$(echo "$modules" | tr ',' ' ')"
exit 77
