#!/usr/bin/env bash
# MSI-Net with the steps of the original project: train on SALICON, fine-tune on another data set,
# evaluate, make saliency maps, and convert the weights.
#   examples/msinet.sh [--smoke] [FOLDER]     UBIQUE=path/to/ubique DEVICE=auto|cuda|metal|cpu|sham
# DATA: a folder with salicon/ and fixationadd1000/, for training at full size; START: initial weights,
# such as vgg16.pth. Without DATA, two sets of synthetic scenes are used. --smoke: few scenes and one
# epoch, in seconds.
set -euo pipefail
ubique=${UBIQUE:-build/cpu/bin/ubique} device=${DEVICE:-auto}
scenes=600 epochs=12 fresh=() first=salicon second=fixationadd1000
if [ "${1:-}" = --smoke ]; then scenes=16 epochs=1; shift; fi
folder=${1:-demo/msinet-example} data=${DATA:-}
if [ -e "$folder/runs" ]; then echo "$folder holds a run already: remove it, or name another folder" >&2; exit 2; fi
if [ -z "$data" ]; then
  data="$folder/data" first=photos second=ads
  "$ubique" data msinet synth -o "$data/$first" --count $scenes --valid $((scenes / 4)) --seed 1
  "$ubique" data msinet synth -o "$data/$second" --count $((scenes / 2)) --valid $((scenes / 4)) --seed 2
  fresh=(--preset msinet-small --size 64,80 --batch 16 --lr 5e-3 --clip-norm 1 --schedule cosine --flip -e $epochs)
fi

# The original's train-salicon, then train-fixationadd1000 from its best weights. On a Mac: DEVICE=metal.
"$ubique" train msinet -d "$data" --dataset "$first,$second" --device "$device" \
  ${START:+--model "$START"} "${fresh[@]}" -o "$folder/runs"
weights=$(echo "$folder/runs/$second"/results/ckpts/best/model_"$second"_*.weights.h5)
"$ubique" evaluate msinet --model "$weights" -d "$data/$second" --device "$device" -o "$folder/scores"
# The original's test DATASET PATH.
"$ubique" run msinet "$data/$second/stimuli" --model "$folder/runs/$second/results" \
  --dataset "$second" --device "$device" --peaks 3 -o "$folder/maps"
"$ubique" convert msinet "$weights" -o "$folder/net.safetensors" --layout channels_last
"$ubique" export msinet --model "$weights" -o "$folder/net.onnx"
echo "weights for every device: $weights"
echo "report: $folder/runs/$second/report.html"
