# SPDX-License-Identifier: Apache-2.0
"""The honest files from which hostile ones are made, written by the program itself, and the commands that read them."""
import json
import os
import shutil
import subprocess
from pathlib import Path

PLAIN = "--device cpu --threads 1 --dtype f32"
TINY_TRM = ("arch.mlp_t=true arch.hidden_size=16 arch.num_heads=2 arch.puzzle_emb_len=1 arch.H_cycles=1 arch.L_cycles=1 "
            "arch.halt_max_steps=2 global_batch_size=10 epochs=1 eval_interval=1 lr=1e-3")

TINY_CODELM = "--tokenizer tokens/tokenizer --layers 1 --hidden 16 --heads 2 --context 64 --sequence-length 64"

RECIPE = f"""
data meshnet synth -o heads --count 6 --size 16 --seed 7 -q
train meshnet -d heads -c 5 --shape 16,16,16 --spacing 12 -e 1 --max-steps 1 {PLAIN} -o mesh -q
convert meshnet mesh -o mesh.pt -q
export meshnet --model mesh -o mesh.onnx -q
export meshnet --model mesh --format tfjs -o mesh.tfjs -q
convert meshnet mesh -o mesh.safetensors -q
data msinet synth -o scenes --count 4 --valid 2 --size 32,40 -q
train msinet -d scenes --preset msinet-small --size 32,40 --batch 2 -e 1 --max-steps 1 {PLAIN} -o gaze -q
convert msinet gaze -o gaze.h5 -q
convert msinet gaze -o gaze.npz -q
export msinet --model gaze -o gaze.onnx -q
data trm sudoku --size 4 --train 20 --test 4 -o puzzles -q
train trm -d puzzles {PLAIN} -o solver {TINY_TRM} -q
convert trm solver --format pt -o solver.pt -q
data codelm tokenizer sources -o tokenizer.json --size 400 -q
data codelm import sources -o tokens --tokenizer tokenizer.json -q
train codelm -d tokens {TINY_CODELM} {PLAIN} --max-steps 1 -o coder -q
convert codelm coder -o coder.hf --format huggingface -q
train codelm --model coder.hf --lora --lora-rank 2 -d tokens --sequence-length 64 {PLAIN} --max-steps 1 -o adapter -q
convert codelm adapter -o adapter.peft --format peft -q
"""


class Case:
    """Files that a command reads, those of them that are changed, and the command (`{}` is the folder)."""

    def __init__(self, name: str, needs: str, changed: str, *commands: str):
        self.name, self.needs, self.changed, self.commands = name, needs.split(), changed.split(), commands


def model_cases(family: str, model: str, changed: str, data: str, use: str) -> list[Case]:
    """Everything one does with a model file or run folder."""
    return [Case(f"{family} {model}", f"{model} {data}", changed,
                 f"inspect {model}", f"inspect {model} --json --stats", f"convert {family} {model} -o x.safetensors -q",
                 f"export {family} --model {model} --format checkpoint -o x -q", use)]


def run_cases(family: str, run: str, data: str, train: str, evaluate: str) -> list[Case]:
    changed = f"{run}/checkpoints/last/* {run}/checkpoints/best/* {run}/run.yaml {run}/metrics.jsonl {run}/plan.json"
    return [Case(f"{family} run folder", f"{run} {data}", changed, train, train, evaluate, f"inspect {run}",
                 f"inspect {run}/checkpoints/last"),
            Case(f"{family} data", f"{run} {data}", f"{data}/* {data}/*/* {data}/*/*/*", train.replace(f"-o {run} --resume", "-o fresh"), evaluate)]


def codelm_cases() -> list[Case]:
    use = f"run codelm --model {{}} --prompt def --max-new-tokens 4 {PLAIN} -q"
    texts = "sources/words.json sources/chats.jsonl sources/tokens.jsonl sources/text.py"
    return [
        *model_cases("codelm", "coder", "coder/checkpoints/best/* coder/tokenizer/*", "", use.format("coder")),
        *model_cases("codelm", "coder.hf", "coder.hf/*", "", use.format("coder.hf")),
        *run_cases("codelm", "coder", "tokens", f"train codelm -d tokens {TINY_CODELM} {PLAIN} --max-steps 2 -o coder --resume -q",
                   f"evaluate codelm --model coder -d tokens {PLAIN} -q"),
        Case("codelm adapter", "coder.hf adapter.peft", "adapter.peft/* coder.hf/config.json",
             f"{use.format('coder.hf')} --adapter adapter.peft", "inspect adapter.peft"),
        Case("codelm adapter run", "coder.hf adapter", "adapter/checkpoints/best/*", use.format("adapter"), "convert codelm adapter -o x --format mlx -q"),
        Case("codelm texts", "sources tokens tokenizer.json coder.hf", texts, "data codelm import sources -o x --tokenizer tokenizer.json -q",
             f"train codelm --sequences sources/tokens.jsonl {TINY_CODELM} {PLAIN} --max-steps 1 -o x -q",
             f"run codelm --model coder.hf --prompts sources/chats.jsonl --slots 2 --max-new-tokens 2 {PLAIN} -q",
             "data codelm tokenizer sources -o y.json --size 300 -q"),
        Case("tokenizer", "coder.hf sources", "coder.hf/tokenizer.json", use.format("coder.hf"), "inspect coder.hf/tokenizer.json",
             "data codelm import sources -o x --tokenizer coder.hf -q"),
        Case("codelm data", "tokens", "tokens/*", "data codelm show tokens -q", "inspect tokens"),
    ]


def cases() -> list[Case]:
    mesh_use = f"run meshnet heads/images/head_0000.nii.gz --model {{}} {PLAIN} -o out -q"
    gaze_use = f"run msinet scenes/stimuli/val/scene_000004.png --model {{}} {PLAIN} -o out -q"
    trm_use = f"run trm puzzles --model {{}} {PLAIN} --limit 2 -q"
    found = []
    for model, changed in [("mesh", "mesh/checkpoints/best/*"), ("mesh.pt", "mesh.pt"), ("mesh.onnx", "mesh.onnx"),
                           ("mesh.safetensors", "mesh.safetensors"), ("mesh.tfjs", "mesh.tfjs/*.json mesh.tfjs/*.bin")]:
        found += model_cases("meshnet", model, changed, "heads", mesh_use.format(model))
    for model, changed in [("gaze", "gaze/checkpoints/best/*"), ("gaze.h5", "gaze.h5"), ("gaze.npz", "gaze.npz"), ("gaze.onnx", "gaze.onnx")]:
        found += model_cases("msinet", model, changed, "scenes", gaze_use.format(model))
    for model, changed in [("solver", "solver/checkpoints/best/*"), ("solver.pt", "solver.pt")]:
        found += model_cases("trm", model, changed, "puzzles", trm_use.format(model))
    found += run_cases("meshnet", "mesh", "heads",
                       f"train meshnet -d heads -c 5 --shape 16,16,16 --spacing 12 -e 2 --max-steps 2 {PLAIN} -o mesh --resume -q",
                       f"evaluate meshnet --model mesh -d heads --part all {PLAIN} -q")
    found += run_cases("msinet", "gaze", "scenes",
                       f"train msinet -d scenes --preset msinet-small --size 32,40 --batch 2 -e 1 --max-steps 2 {PLAIN} -o gaze --resume -q",
                       f"evaluate msinet --model gaze -d scenes {PLAIN} -q")
    found += run_cases("trm", "solver", "puzzles", f"train trm -d puzzles {PLAIN} -o solver --resume {TINY_TRM} max_steps=3 -q",
                       f"evaluate trm --model solver -d puzzles {PLAIN} -q")
    found += codelm_cases()
    found += [Case("scan", "mesh heads", "heads/images/head_0000.nii.gz", mesh_use.format("mesh")),
              Case("picture", "gaze scenes", "scenes/stimuli/val/scene_000004.png", gaze_use.format("gaze")),
              Case("configuration", "heads mesh", "mesh/run.yaml", f"train meshnet --config mesh/run.yaml --dry-run {PLAIN} -q",
                   f"plan meshnet --config mesh/run.yaml")]
    return found


def write_sources(folder: Path) -> None:
    """Texts in every form from which token sequences are made."""
    folder.mkdir()
    (folder / "text.py").write_text(Path(__file__).read_text())
    (folder / "words.json").write_text(json.dumps({"token_sequences": [[5, 6, 7], [8, 9]], "vocab_size": 400, "num_sequences": 2}, indent=2))
    (folder / "tokens.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ({"tokens": [1, 2, 3, 4]}, [5, 6, 7, 8])))
    chats = ({"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}]}, {"prompt": "a", "completion": "b"}, {"text": "c"})
    (folder / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chats))


def make(program: str, folder: Path) -> None:
    """Writes all of it once; a later run finds it there."""
    if (folder / "complete").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_sources(folder / "sources")
    environment = dict(os.environ, UBIQUE_CACHE_DIR=str(folder / "cache"))
    for line in RECIPE.strip().splitlines():
        subprocess.run([program, *line.split()], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    (folder / "complete").touch()
