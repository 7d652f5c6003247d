// SPDX-License-Identifier: Apache-2.0
// Every op that a family calls on a device has a probe. The families train, score and run on the
// pretend device, which lists the ops that it was asked for.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/base/scratch.h"
#include "tests/probe/mutations/family_ops.h"

using namespace ubique;

namespace {

/// Runs the program on the pretend device, in a folder and with verdicts of its own, and collects
/// the ops of all its commands. (The probes of the first use are among them, and do no harm.)
class FamilyRuns {
 public:
  /// `words` may use the shell's quotes and patterns.
  void run(const std::string& words) {
    const auto ledger = folder_ / "ops.txt";
    const auto command = fmt::format(
        "cd '{0}' && UBIQUE_CACHE_DIR='{0}/cache' UBIQUE_DEVICE=sham UBIQUE_SHAM='ledger={1}' "
        "'{2}/bin/ubique' {3} --quiet > /dev/null",
        folder_.path().string(), ledger.string(), UBIQUE_BINARY_DIR, words);
    CAPTURE(command);
    CHECK(std::system(command.c_str()) == 0);
    std::ifstream lines(ledger);
    for (std::string op, count; lines >> op >> count;) ops_.insert(op.substr(op.find("::") + 2));
    std::filesystem::remove(ledger);
  }

  /// Ops that no probe is known to notice.
  std::set<std::string> unprobed() const {
    auto left = ops_;
    std::erase_if(left, [](const std::string& op) {
      return test::kProbedOps.contains(op) || test::kMovingOps.contains(op);
    });
    return left;
  }
  bool called(const std::string& op) const { return ops_.contains(op); }

 private:
  test::ScratchFolder folder_;
  std::set<std::string> ops_;
};

void check_all_probed(const FamilyRuns& runs) {
  for (const auto& op : runs.unprobed()) {
    FAIL_CHECK("no probe for ", op,
               ": add a row in probe_elementary.cpp and its name in family_ops.h");
  }
}

}  // namespace

TEST_CASE("families: every op that MeshNet calls has a probe") {
  FamilyRuns runs;
  runs.run("data meshnet synth -o heads --count 9 --size 24 --seed 7");
  const std::string small =
      "-d heads --size-bins quartiles -c 5 --shape 24,24,24 --spacing 8 -e 1 --max-steps 1 --cache "
      "cached --threads 1";
  runs.run("train meshnet " + small + " -o relu --ema 0.9");
  runs.run("evaluate meshnet --model relu -d heads --size-bins quartiles --threads 1");
  runs.run("run meshnet heads/images/*0001.nii.gz --model relu -o out --threads 1");
  runs.run("train meshnet " + small + " -o elu --activation elu --norm none --optimizer sgd");
  runs.run("train meshnet " + small + " -o gelu --activation gelu --norm instance --dropout 0.1");
  CHECK(runs.called("elu"));
  CHECK(runs.called("gelu"));
  check_all_probed(runs);
}

TEST_CASE("families: every op that MSI-Net calls has a probe") {
  FamilyRuns runs;
  runs.run("data msinet synth -o scenes --count 4 --valid 4 --size 32,40");
  const std::string small =
      "-d scenes --preset msinet-small --size 32,40 --batch 4 --lr 1e-3 -e 1 --threads 1";
  runs.run("train msinet " + small + " -o legacy");
  runs.run("evaluate msinet --model legacy -d scenes --definition tuebingen --threads 1");
  runs.run("run msinet scenes/stimuli/val --model legacy -o maps --threads 1");
  runs.run("train msinet " + small + " -o half --upsample half_pixel");
  CHECK(runs.called("max_pool2d_with_indices"));
  CHECK(runs.called("upsample_bilinear2d"));
  check_all_probed(runs);
}

TEST_CASE("families: every op that TRM calls has a probe") {
  FamilyRuns runs;
  runs.run("data trm sudoku --size 4 --train 8 --test 8 -o small");
  runs.run(fmt::format("data trm chat {}/examples/talks.json -o chat --vocab 420 --max-length 64",
                       UBIQUE_SOURCE_DIR));
  const std::string small =
      "--threads 1 arch.hidden_size=16 arch.num_heads=2 arch.puzzle_emb_len=2 arch.H_cycles=2 "
      "arch.L_cycles=2 +arch.halt_max_steps=2 global_batch_size=8 epochs=2 eval_interval=2 "
      "lr_warmup_steps=1 ";
  runs.run("train trm -d small -o mixer arch.mlp_t=true arch.puzzle_emb_ndim=16 " + small);
  runs.run("train trm -d small -o attends optimizer=adamw " + small);
  runs.run("evaluate trm -d small --model attends --threads 1");
  runs.run("run trm small --model mixer --threads 1");
  runs.run(
      fmt::format("train trm -d chat --config {}/configs/trm/chat.yaml arch.hidden_size=64 "
                  "arch.num_heads=4 global_batch_size=12 epochs=1 eval_interval=1 --threads 1 "
                  "-o talks",
                  UBIQUE_SOURCE_DIR));
  runs.run("run trm --chat --model talks --prompt 'What do bees make?' --threads 1");
  CHECK(runs.called("argmax"));
  CHECK(runs.called("_log_softmax"));
  check_all_probed(runs);
}

TEST_CASE("families: every op that codelm calls has a probe") {
  FamilyRuns runs;
  const auto sources = fmt::format("{}/tests/cli/helpers", UBIQUE_SOURCE_DIR);
  runs.run("data codelm tokenizer " + sources + " -o tokenizer.json --size 300");
  const std::string small = "--sequences " + sources +
                            " --tokenizer tokenizer.json --layers 1 --hidden 64 --heads 4 "
                            "--context 64 -e 1 --max-steps 1 --effective-batch 2 --threads 1 ";
  runs.run("train codelm " + small + "-o whole --val-rows 2 --sample-prompts 'def ' --dropout 0.1");
  const std::string adapters = "--model base --lora --sequences " + sources +
                               " -e 1 --max-steps 1 --effective-batch 2 --val-rows 2 --threads 1 ";
  runs.run("convert codelm whole -o base --format huggingface");
  runs.run("train codelm " + adapters + "-o lora --fim-rate 0");
  runs.run("train codelm " + adapters + "-o qlora --base-weights nf4");
  runs.run("train codelm " + adapters + "-o q8 --base-weights int8");
  runs.run("evaluate codelm --model lora -d " + sources + " --threads 1");
  runs.run("run codelm --model base --prompt 'def ' --max-new-tokens 4 --threads 1");
  runs.run("run codelm --model base --weights int4 --prompt 'def ' --max-new-tokens 4 --threads 1");
  CHECK(runs.called("embedding_dense_backward"));
  CHECK(runs.called("native_layer_norm"));
  check_all_probed(runs);
}

TEST_CASE("families: every op that ACE-Step calls has a probe") {
  FamilyRuns runs;
  runs.run("data acestep new --layers 2 --heads 2 --head-size 16 -o model");
  runs.run("data acestep synth -o songs --count 4 --seconds 3.065");
  runs.run("data acestep prepare songs -o data --model model --val-share 0.5");
  const std::string small =
      "--model model -d data -e 1 --max-steps 1 --effective-batch 2 --preview-seconds 0.5 "
      "--preview-steps 2 --threads 1 ";
  runs.run("train acestep " + small + "--lora-rank 4 -o lora");
  runs.run("train acestep " + small + "--lora-rank 4 --base-weights nf4 -o qlora");
  runs.run("train acestep " + small + "--full -o full");
  runs.run("evaluate acestep --model lora -d data --threads 1");
  const std::string song = "--tags 'a minor, saw' --seconds 1 --steps 3 --threads 1 ";
  runs.run("run acestep --model lora -o a.wav " + song);
  runs.run(
      "run acestep --model model -o b.wav --solver heun --guidance-kind cfg --lyrics 'do re' " +
      song);
  runs.run(
      "run acestep --model model -o c.wav --solver pingpong --task repaint --source a.wav "
      "--start 0.2 --end 0.6 " +
      song);
  runs.run("run acestep --model model -o d.wav --task edit --source a.wav --target-tags jazz " +
           song);
  CHECK(runs.called("native_group_norm"));
  CHECK(runs.called("tanh"));
  check_all_probed(runs);
}
