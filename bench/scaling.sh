#!/bin/bash
# Training on 1, 2, ... N GPUs of one machine, the same batch a GPU: images per second, scaling, the time of
# the gradients' averaging that backward does not hide, and the article's job.
#   bench/scaling.sh MASKFIT TRAIN_STEP DATASET [N]
# DATASET: a maskfit dataset (real input); N: how many GPUs, by default all. BATCH=24, PRECISION=bf16,
# SIZES="960x544 640x640", JOB_EPOCHS=120 and JOB_BATCH=16 may be set; DEVICE=cpu tries the script out on
# processes. Logs and runs go to OUT, by default a temporary folder that is kept.
set -euo pipefail
maskfit=$(realpath "$1") train_step=$(realpath "$2") dataset=$3
device=${DEVICE:-cuda} batch=${BATCH:-24} precision=${PRECISION:-bf16} sizes=${SIZES:-"960x544 640x640"}
if [ $# -ge 4 ]; then most=$4; else most=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l); fi
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0 # NVLink multicast needs rights that containers seldom have
counts=$(for n in 1 2 4 8 16; do [ "$n" -lt "$most" ] && echo "$n"; done; echo "$most")

number() { # NAME: of the JSON line on standard input
  sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" | tail -1
}

steps() { # RANKS OPTIONS...: one line of JSON, of all ranks together
  local ranks=$1 port=$((20000 + RANDOM % 20000)) r pids=() result=0
  shift
  for ((r = 0; r < ranks; r++)); do
    RANK=$r WORLD_SIZE=$ranks LOCAL_RANK=$r LOCAL_WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
      "$train_step" --device "$device" --precision "$precision" --batch "$batch" --steps "${STEPS:-50}" "$@" \
      >"$out/step-$r.log" 2>&1 &
    pids+=($!)
  done
  for r in "${pids[@]}"; do wait "$r" || result=$?; done
  if [ "$result" -ne 0 ]; then
    cat "$out"/step-*.log >&2
    return "$result"
  fi
  cat "$out/step-0.log"
}

train() { # RANKS NAME OPTIONS...
  local ranks=$1 name=$2 several=--gpus
  shift 2
  [ "$device" = cpu ] && several=--ranks
  "$maskfit" train "$dataset" --out "$out/$name" --force "$several" "$ranks" --precision "$precision" "$@" \
    >"$out/$name.log" 2>&1 || { cat "$out/$name.log" >&2; return 1; }
}

rate_of_run() { # NAME: median of the logged rates without the first quarter, where graphs are recorded
  sed -n 's/.*"images_per_second":\([0-9.e+-]*\).*/\1/p' "$out/$1/metrics.jsonl" |
    awk '{ v[NR] = $1 } END { for (i = int(NR / 4) + 1; i <= NR; i++) print v[i] }' | sort -g |
    awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

printf '%-10s %5s %14s %8s %14s %8s %22s\n' size ranks synthetic scaling real scaling 'not hidden, ms a step'
for size in $sizes; do
  first_step='' first_run=''
  for n in $counts; do
    rate=$(steps "$n" --size "$size" | number images_per_second)
    alone=$(steps "$n" --size "$size" --no-exchange | number images_per_second)
    train "$n" "real-$size-$n" --size "$size" --batch "$batch" --epochs "${EPOCHS:-6}"
    run=$(rate_of_run "real-$size-$n")
    first_step=${first_step:-$rate} first_run=${first_run:-$run}
    awk -v size="$size" -v n="$n" -v rate="$rate" -v alone="$alone" -v run="$run" -v s1="$first_step" \
      -v r1="$first_run" -v b="$batch" 'BEGIN {
        printf "%-10s %5d %14.1f %8.2f %14.1f %8.2f %22.3f\n", size, n, rate, rate / s1, run, run / r1,
          1000 * b * n * (1 / rate - 1 / alone) }'
  done
done

printf '\nthe whole job on %s, 640x640, %s epochs, batch %s a GPU, from process start to the final model\n' \
  "$dataset" "${JOB_EPOCHS:-120}" "${JOB_BATCH:-16}"
first_job=''
for n in $counts; do
  begin=$(date +%s.%N)
  train "$n" "job-$n" --size 640x640 --batch "${JOB_BATCH:-16}" --epochs "${JOB_EPOCHS:-120}"
  seconds=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { print b - a }')
  first_job=${first_job:-$seconds}
  awk -v n="$n" -v s="$seconds" -v f="$first_job" 'BEGIN { printf "%5d ranks %9.1f s %8.2f\n", n, s, f / s }'
done
echo "runs and logs: $out"
