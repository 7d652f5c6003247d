#!/usr/bin/env bash
# Music: a style of one's own from sound files with texts. Synthetic music of a timbre that the small
# model does not know becomes training data, an adapter (LoRA) learns it, and songs are made, repainted and
# extended with it.
#   examples/acestep.sh [--smoke] [FOLDER]     UBIQUE=path/to/ubique DEVICE=auto|cuda|metal|cpu|sham
# MODEL: ACE-Step's folder (default: the small model that comes with the program). SONGS: a folder of X.wav,
# X_prompt.txt, X_lyrics.txt (default: synthetic music). --smoke: few clips and steps, in seconds.
set -euo pipefail
ubique=${UBIQUE:-build/cpu/bin/ubique} device=${DEVICE:-auto}
clips=96 steps=200 sampling=27
if [ "${1:-}" = --smoke ]; then clips=6 steps=4 sampling=4; shift; fi
folder=${1:-demo/acestep-example} songs=${SONGS:-}
model=${MODEL:-$(dirname "$0")/../models/acestep-tiny}
if [ -e "$folder/data" ]; then echo "$folder holds an example already: remove it, or name another folder" >&2; exit 2; fi
mkdir -p "$folder"
if [ ! -e "$model" ]; then "$ubique" data acestep new -o "$folder/model"; model="$folder/model"; fi
if [ -z "$songs" ]; then
  songs="$folder/organ"
  "$ubique" data acestep synth -o "$songs" --count $clips --timbre organ --seconds 3.065
  "$ubique" data acestep analyse "$songs"
fi
"$ubique" data acestep prepare "$songs" --model "$model" --device "$device" -o "$folder/data"
"$ubique" data acestep show "$folder/data"
# The adapter is stopped after a few steps, then resumed.
adapt=(train acestep --model "$model" -d "$folder/data" --lora-rank 16 --lora-alpha 16 --lr 2e-3 --effective-batch 8
  --schedule-steps $steps --epochs 1000 --validate-every 1000 --device "$device" -o "$folder/run")
"$ubique" "${adapt[@]}" --max-steps $((steps / 2))
"$ubique" "${adapt[@]}" --max-steps $steps --resume
song=(run acestep --model "$folder/run" --lyrics $'[verse]\nso mi do' --steps $sampling --seconds 3 --device "$device")
"$ubique" "${song[@]}" --tags 'd major, organ, 120 bpm' -o "$folder/song.wav" --picture
"$ubique" "${song[@]}" --tags 'd major, organ, 120 bpm' --task repaint --source "$folder/song.wav" --start 1 --end 2 \
  -o "$folder/repainted.wav"
"$ubique" "${song[@]}" --tags 'd major, organ, 120 bpm' --task extend --source "$folder/song.wav" --right 2 -o "$folder/longer.wav"
"$ubique" data acestep analyse "$folder/song.wav" "$folder/repainted.wav" "$folder/longer.wav"
"$ubique" convert acestep "$folder/run" -o "$folder/adapter" --format peft
"$ubique" convert acestep "$folder/run" -o "$folder/merged" --format merged
echo "adapter: $folder/adapter; merged model: $folder/merged"
