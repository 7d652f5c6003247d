#!/usr/bin/env bash
# Code language model: the history of a git repository becomes training data, a small network is trained
# from nothing, an adapter (LoRA) on top of it, and both are handed to other programs.
#   examples/codelm.sh [--smoke] [FOLDER]     UBIQUE=path/to/ubique DEVICE=auto|cuda|metal|cpu|sham
# REPOSITORY: the git repository (default: this one). MODEL: a Hugging Face folder to adapt instead of the
# small network. --smoke: few commits and steps, in seconds.
set -euo pipefail
ubique=${UBIQUE:-build/cpu/bin/ubique} device=${DEVICE:-auto}
repository=${REPOSITORY:-$(dirname "$0")/..}
history=() steps=400 layers=6 hidden=256 length=256
if [ "${1:-}" = --smoke ]; then history=(--form snapshot --paths 'ubique/base/**'); steps=12 layers=2 hidden=64 length=64; shift; fi
folder=${1:-demo/codelm-example} model=${MODEL:-}
if [ -e "$folder/data" ]; then echo "$folder holds an example already: remove it, or name another folder" >&2; exit 2; fi
mkdir -p "$folder"
tokenizer=$model
if [ -z "$model" ]; then
  tokenizer="$folder/tokenizer.json"
  "$ubique" data codelm tokenizer "$(dirname "$0")/../ubique/base" -o "$tokenizer" --size 1024
fi
"$ubique" data codelm git "$repository" -o "$folder/data" --tokenizer "$tokenizer" "${history[@]}"
"$ubique" data codelm show "$folder/data" --count 1
if [ -z "$model" ]; then
  "$ubique" train codelm -d "$folder/data" --layers $layers --hidden $hidden --heads 4 --context 512 --sequence-length $length \
    --lr 1e-3 --max-steps $steps --device "$device" -o "$folder/run"
  "$ubique" convert codelm "$folder/run" -o "$folder/model" --format huggingface
  model="$folder/model"
fi
# The adapter is stopped after a few steps, then resumed.
adapt=(train codelm --model "$model" --lora --lora-rank 8 -d "$folder/data" --sequence-length $length --schedule-steps $steps
  --device "$device" -o "$folder/adapter-run")
"$ubique" "${adapt[@]}" --max-steps $((steps / 2))
"$ubique" "${adapt[@]}" --max-steps $steps --resume
"$ubique" evaluate codelm --model "$folder/adapter-run" -d "$folder/data" --sequence-length $length --device "$device"
"$ubique" run codelm --model "$folder/adapter-run" --prompt 'namespace ubique {' --max-new-tokens 40 --device "$device"
"$ubique" convert codelm "$folder/adapter-run" -o "$folder/adapter" --format peft
"$ubique" convert codelm "$folder/adapter-run" -o "$folder/merged" --format huggingface
"$ubique" convert codelm "$folder/merged" -o "$folder/merged.gguf" --type q8_0
"$ubique" export codelm --model "$folder/adapter-run" --format onnx -o "$folder/merged.onnx"
echo "adapter for PEFT: $folder/adapter; merged model: $folder/merged, $folder/merged.gguf, $folder/merged.onnx"
