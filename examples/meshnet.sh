#!/usr/bin/env bash
# MeshNet on synthetic heads: training that is interrupted and resumed, evaluation, label maps, and
# export for PyTorch and for BrainChop.
#   examples/meshnet.sh [--smoke] [FOLDER]     UBIQUE=path/to/ubique DEVICE=auto
# --smoke: fewer and smaller heads and two epochs, to check all steps in seconds.
set -euo pipefail
ubique=${UBIQUE:-build/cpu/bin/ubique} device=${DEVICE:-auto}
heads=36 size=48 epochs=40
if [ "${1:-}" = --smoke ]; then heads=9 size=24 epochs=2; shift; fi
folder=${1:-demo/meshnet-example}
spacing=$((192 / size))
if [ -e "$folder/run" ]; then echo "$folder holds a run already: remove it, or name another folder" >&2; exit 2; fi

"$ubique" data meshnet synth -o "$folder/heads" --count $heads --size $size
train=("$ubique" train meshnet -d "$folder/heads" --size-bins quartiles --device "$device" -c 5
  --shape $size,$size,$size --spacing $spacing -e $epochs --lr 0.02 --warmup 0.1 --bg-weight 0.2
  --cache "$folder/cache" -o "$folder/run")
"${train[@]}" --max-steps 3
"${train[@]}" --resume
"$ubique" evaluate meshnet --model "$folder/run/checkpoints/best" -d "$folder/heads" \
  --size-bins quartiles --device "$device" -o "$folder/scores"
"$ubique" run meshnet "$folder/heads/images" --model "$folder/run/checkpoints/best" \
  --device "$device" -o "$folder/segmented"
"$ubique" convert meshnet "$folder/run/checkpoints/best" -o "$folder/lesion.pt"
"$ubique" convert meshnet "$folder/run/checkpoints/best" -o "$folder/lesion-web" --format brainchop
echo "report: $folder/run/report.html"
