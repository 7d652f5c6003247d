#!/usr/bin/env bash
# Tiny Recursive Model: make puzzles, train, resume, evaluate on unseen puzzles, watch the model solve
# two, and write a checkpoint for the original project.
#   examples/trm.sh [--smoke] [FOLDER]     UBIQUE=path/to/ubique DEVICE=auto|cuda|metal|cpu|sham
# DATA: the folder of a data set (the original's, or from `ubique data trm sudoku|maze|csv|arc`), which
# is trained with the original's recipe for sudoku. Without DATA, 4x4 sudokus are generated. --smoke: few
# puzzles, in seconds.
set -euo pipefail
ubique=${UBIQUE:-build/cpu/bin/ubique} device=${DEVICE:-auto}
train=1000 test=500 epochs=60
if [ "${1:-}" = --smoke ]; then train=100 test=40 epochs=10; shift; fi
folder=${1:-demo/trm-example} data=${DATA:-}
if [ -e "$folder/run" ]; then echo "$folder holds a run already: remove it, or name another folder" >&2; exit 2; fi
recipe=(arch.mlp_t=true epochs=50000 weight_decay=1 puzzle_emb_lr=1e-4 puzzle_emb_weight_decay=1)
if [ -z "$data" ]; then
  data="$folder/sudoku4"
  "$ubique" data trm sudoku --size 4 --train $train --test $test --seed 1 -o "$data"
  recipe=(arch.mlp_t=true arch.hidden_size=64 arch.num_heads=4 arch.puzzle_emb_len=1 arch.H_cycles=2
    arch.L_cycles=2 arch.halt_max_steps=8 global_batch_size=20 epochs=$epochs lr=1e-3 lr_warmup_steps=30
    lr_min_ratio=0.1 ema=0.98)
fi

# The run is stopped after 25 updates, then resumed.
"$ubique" train trm -d "$data" --device "$device" -o "$folder/run" "${recipe[@]}" --max-steps 25 schedule=constant
"$ubique" train trm -d "$data" --device "$device" -o "$folder/run" "${recipe[@]}" schedule=constant --resume
"$ubique" evaluate trm --model "$folder/run" -d "$data" --device "$device" -o "$folder/scores.json"
"$ubique" run trm "$data" --limit 2 --model "$folder/run" --device "$device" --watch
"$ubique" run trm "$data" --model "$folder/run" --device "$device" --steps 16 -o "$folder/solved.json"
"$ubique" convert trm "$folder/run/checkpoints/best" -o "$folder/step_1" --format pt
echo "weights that the original opens: $folder/step_1"
echo "report: $folder/run/report.html"
