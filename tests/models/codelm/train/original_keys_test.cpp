// SPDX-License-Identifier: Apache-2.0
// The original trainer's configuration files: every key works, is refused, or is named.
#include "ubique/models/codelm/train/original_keys.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/base/scratch.h"
#include "ubique/models/codelm/train/settings.h"
#include "ubique/plan/wishes.h"

using namespace ubique;

namespace {

struct Loaded {
  codelm::TrainSettings settings;
  plan::Wishes wishes;
  std::vector<std::string> idle;
};

/// As `train codelm --config FILE --sequences x.json` reads it.
Loaded load(Config config, const std::vector<std::pair<std::string, std::string>>& flags = {}) {
  config.set_environment({});
  config.set_flag("sequences", "x.json");
  for (const auto& [key, value] : flags) config.set_flag(key, value);
  codelm::adopt_original_keys(config);
  Loaded loaded;
  loaded.wishes = plan::read_wishes(config);
  engine::Request request;
  request.config = config;
  request.model = config.get<std::string>("model", "");
  loaded.settings = codelm::read_codelm_settings(request);
  codelm::read_new_network(config);
  config.expect("log_every");
  config.finish();
  loaded.idle = codelm::idle_original_keys(config);
  return loaded;
}

Config shipped(const std::string& name) {
  return Config::from_file(std::string(UBIQUE_SOURCE_DIR) + "/configs/codelm/" + name + ".yaml");
}

Config text(const std::string& yaml) { return Config::from_text(yaml, "old.yaml"); }

bool has(const std::vector<std::string>& list, const char* key) {
  return std::ranges::find(list, key) != list.end();
}

std::string refused(const std::string& yaml) {
  return test::refusal_of(ErrorKind::Usage, [&] { (void)load(text(yaml)); });
}

}  // namespace

TEST_CASE("original keys: the universal configuration loads, and its dead keys are named") {
  const auto [settings, wishes, idle] = load(shipped("universal"));
  CHECK(settings.model == "microsoft/phi-2");
  REQUIRE(settings.adapter);
  CHECK(settings.adapter->rank == 64);
  CHECK(settings.adapter->alpha == 128);
  CHECK(settings.adapter->dropout == 0.03);
  CHECK(settings.adapter->targets.size() == 4);
  CHECK(settings.base_weights == "int8");
  CHECK(settings.packing.length == 256);
  const auto& recipe = settings.recipe;
  CHECK(recipe.optimizer.lr == 8e-4);
  CHECK(recipe.optimizer.weight_decay == 0.05);
  CHECK_FALSE(recipe.optimizer.decay_matrices_only);
  CHECK(recipe.optimizer.beta2 == 0.999);
  CHECK(recipe.schedule.name == "cosine");
  CHECK(recipe.schedule.floor == 0);
  CHECK(recipe.schedule.warmup == 0.05);
  CHECK(recipe.schedule.warmup_most == 1500);
  CHECK_FALSE(recipe.schedule.warmup_steps);
  CHECK(recipe.clip_norm == 1);
  CHECK(recipe.epochs == 20);
  CHECK(recipe.max_steps == 200000);
  CHECK(recipe.checkpoint_every == 8890);
  CHECK(recipe.keep == 20);
  CHECK(recipe.patience == 20);
  CHECK(wishes.effective_batch == 16);
  CHECK(wishes.preferred_dtype == DType::F16);
  for (const char* key : {"model.device_map", "quantization.target_window", "training.eval_steps",
                          "inference.num_beams", "output.save_optimizer"}) {
    CAPTURE(key);
    CHECK(has(idle, key));
  }
  CHECK_FALSE(has(idle, "training.num_epochs"));
}

TEST_CASE("original keys: the canonical configuration loads") {
  const auto [settings, wishes, idle] = load(shipped("canonical"));
  CHECK(settings.model == "bigcode/starcoder2-3b");
  CHECK(settings.tokenizer.empty());  // the model's own
  REQUIRE(settings.adapter);
  CHECK(settings.adapter->rank == 32);
  CHECK(settings.base_weights == "nf4");
  CHECK(settings.packing.length == 2048);
  CHECK(settings.recipe.optimizer.lr == 5e-5);  // given as a text
  CHECK(settings.recipe.schedule.warmup == 0.15);
  CHECK(settings.recipe.schedule.warmup_least == 20);
  CHECK(settings.recipe.schedule.warmup_most == 2000);
  CHECK(settings.recipe.min_delta == 1e-5);
  CHECK(settings.recipe.patience == 5);
  CHECK(settings.recipe.ema_decay == 0);
  CHECK(settings.val_share == 0.15);
  CHECK(settings.curriculum.start == 0);
  CHECK(settings.goal.tokens == 50'000'000);
  CHECK(settings.goal.least == 15);
  CHECK(settings.goal.most == 30);
  CHECK(settings.samples.prompts.size() == 2);
  CHECK(settings.samples.trim == 300);
  CHECK(settings.samples.generate.max_new_tokens == 150);
  CHECK(settings.samples.generate.sampling.temperature == 0.7);
  CHECK(settings.samples.generate.sampling.top_p == 0.95);
  CHECK(wishes.preferred_dtype == DType::BF16);
  CHECK(has(idle, "model_saving.weight_by_recency"));
  CHECK(has(idle, "training.lr_reduction_factor"));
}

TEST_CASE("original keys: flags win over the file") {
  const auto loaded = load(shipped("canonical"), {{"lr", "1e-3"},
                                                  {"model", "here"},
                                                  {"epochs", "2"},
                                                  {"base_weights", "int8"},
                                                  {"sample_prompts", "null"}});
  CHECK(loaded.settings.recipe.optimizer.lr == 1e-3);
  CHECK(loaded.settings.model == "here");
  CHECK(loaded.settings.recipe.epochs == 2);
  CHECK(loaded.settings.goal.tokens == 0);
  CHECK(loaded.settings.base_weights == "int8");
  CHECK(loaded.settings.samples.prompts.empty());
}

TEST_CASE("original keys: switches turn on what they name") {
  const auto loaded = load(
      text("model: {synthetic_model: true, synthetic_n_embd: 64, synthetic_n_layer: 2, "
           "synthetic_n_head: 4, synthetic_n_positions: 128, name: not-used}\n"
           "training:\n  curriculum: {enabled: true, start_max_len: 32, end_max_len: 96, "
           "warmup_epochs: 3}\n  ema: {enabled: true, decay: 0.99}\n"
           "evaluation: {eval_do_sample: false, eval_temperature: 0.9, run_behavioral_eval: false, "
           "behavioral_test_prompts: [a]}\noptimization: {warmup_steps: 30}\n"
           "model_saving: {save_ckpt_every_n_epochs: 2}\nmax_vram_gb: 8\ncontext_window: 128\n"));
  CHECK(loaded.settings.model.empty());
  CHECK(loaded.settings.curriculum.start == 32);
  CHECK(loaded.settings.curriculum.end == 96);
  CHECK(loaded.settings.curriculum.epochs == 3);
  CHECK(loaded.settings.recipe.ema_decay == 0.99);
  CHECK(loaded.settings.recipe.schedule.warmup_steps == 30);
  CHECK(loaded.settings.recipe.checkpoint_epochs == 2);
  CHECK(loaded.settings.samples.generate.sampling.temperature == 0);
  CHECK(loaded.settings.samples.prompts.empty());
  CHECK(loaded.settings.packing.length == 128);
  CHECK(loaded.wishes.memory == 8'000'000'000);
  CHECK(loaded.idle.empty());
}

TEST_CASE("original keys: a mistyped key and a value without counterpart are refused with place") {
  auto message = refused("training:\n  base_learning_rat: 1e-4\n");
  CHECK(test::contains(message, "old.yaml:2: unknown key training.base_learning_rat"));
  CHECK(test::contains(message, "Did you mean 'base_learning_rate'?"));
  message = refused("model:\n  name: x\n  lora: {r: 8, bias: all}\n");
  CHECK(test::contains(message, "old.yaml:3: model.lora.bias"));
  CHECK(test::contains(message, "got 'all', expected none"));
  CHECK(test::contains(refused("model: {use_4bit: true, use_8bit: true}\n"), "both on"));
  CHECK(test::contains(refused("model: {name: x, use_4bit: true}\n"), "is for --lora"));
  CHECK(test::contains(refused("training: {objectives: {span_rate: 0.5}}\n"), "fim_rate"));
  CHECK(test::contains(refused("quantization: {bnb_4bit_quant_type: fp4}\n"), "expected nf4"));
  CHECK(test::contains(refused("model: {vocab_size_override: 100}\n"), "tokenizer"));
  CHECK(test::contains(refused("max_vram_gb: -1\n"), "max_vram_gb"));
}
