#!/bin/bash
# Packs a built maskfit with the Debian libraries that it needs, for a machine that has a CUDA LibTorch but not those
# packages: bench/bundle.sh BUILD_DIR OUT.tar.xz [more programs of BUILD_DIR ...]
#
# There:  tar xf OUT.tar.xz && LD_LIBRARY_PATH=maskfit-bundle/lib:TORCH/lib maskfit-bundle/maskfit ...
# LibTorch and the C, C++ and CUDA run-time libraries are left out: they must be the other machine's own.
set -euo pipefail
build=$1 out=$2
shift 2
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/maskfit-bundle/lib"
for program in maskfit "$@"; do
  cp "$build/$program" "$stage/maskfit-bundle/"
  strip "$stage/maskfit-bundle/$(basename "$program")"
done
for program in "$stage"/maskfit-bundle/*; do
  [ -f "$program" ] || continue
  ldd "$program" | awk '$3 ~ /^\// {print $3}'
done | sort -u |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux[^/]*|lib(util|gomp|torch|c10|cuda|cu[a-z]+|nccl|nv)[^/]*)\.so' |
  xargs -I{} cp -L {} "$stage/maskfit-bundle/lib/"
tar -C "$stage" -cf - maskfit-bundle | xz -3 > "$out"
