// SPDX-License-Identifier: Apache-2.0
// Options of `train codelm` and how they are read.
#include "ubique/models/codelm/train/settings.h"

#include "ubique/base/text/printable.h"
#include "ubique/io/hub/cache.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/net/layout.h"
#include "ubique/models/codelm/net/needs.h"

namespace ubique::codelm {
namespace {

std::vector<std::filesystem::path> read_paths(const Config& config, const char* key) {
  const auto names = config.get(key, std::vector<std::string>{});
  return {names.begin(), names.end()};
}

engine::Recipe default_recipe(bool lora) {
  engine::Recipe recipe;
  recipe.epochs = 3;
  recipe.optimizer.lr = lora ? 2e-4 : 3e-4;
  recipe.optimizer.weight_decay = lora ? 0 : 0.1;
  recipe.optimizer.decay_matrices_only = true;
  recipe.optimizer.beta2 = 0.95;
  recipe.schedule.name = "cosine";
  recipe.schedule.warmup = 0.03;
  recipe.schedule.floor = 0.1;
  recipe.clip_norm = 1;
  recipe.watch = "loss";
  recipe.watch_higher = false;
  return recipe;
}

void read_packing(const Config& config, TrainSettings& settings) {
  auto& packing = settings.packing;
  // Not in run.yaml unless given: by default it follows from the model.
  const auto length = config.find<std::int64_t>("sequence_length");
  settings.length_given = length.has_value();
  packing.length = length.value_or(packing.length);
  packing.seed = settings.recipe.seed;
  packing.contiguous = config.get("contiguous", false);
  data::FimOptions fim;
  fim.rate = config.get("fim_rate", 0.0);
  fim.spm_share = config.get("fim_spm_share", fim.spm_share);
  data::validate(fim);
  if (fim.rate > 0) packing.fim = fim;
  data::validate(packing);
  auto& curriculum = settings.curriculum;
  curriculum.start = config.get("curriculum_start", curriculum.start);
  curriculum.end = config.get("curriculum_end", curriculum.end);
  curriculum.epochs = config.get("curriculum_epochs", curriculum.epochs);
  validate(curriculum, packing.length);
  check(curriculum.start == 0 || !packing.contiguous, ErrorKind::Usage,
        "[codelm.curriculum] --contiguous has no documents whose length could grow.");
}

void read_samples(const Config& config, TrainSettings& settings) {
  auto& samples = settings.samples;
  auto& generate = samples.generate;
  samples.prompts = config.get("sample_prompts", std::vector<std::string>{});
  samples.count = config.get("sample_count", samples.count);
  samples.trim = config.get("sample_trim", samples.trim);
  generate.max_new_tokens = config.get<std::int64_t>("sample_tokens", 48);
  generate.sampling.temperature = config.get("sample_temperature", 0.0);
  generate.sampling.top_p = config.get("sample_top_p", 1.0);
  generate.sampling.top_k = 0;
  nn::validate(generate);
  check(samples.count >= 1 && samples.count <= 1000 && samples.trim >= 0, ErrorKind::Usage,
        "[codelm.train] {} completions of a prompt, {} letters of each; expected 1 to 1000, and 0 "
        "or more.",
        samples.count, samples.trim);
}

void read_goal(const Config& config, TrainSettings& settings) {
  auto& goal = settings.goal;
  goal.tokens = config.get("target_tokens", goal.tokens);
  goal.least = config.get("min_epochs", goal.least);
  goal.most = config.get("max_epochs", goal.most);
  check(goal.tokens >= 0 && goal.least >= 1 && goal.most >= goal.least, ErrorKind::Usage,
        "[codelm.train] {} tokens in {} to {} epochs; expected 0 or more, and from 1 on.",
        goal.tokens, goal.least, goal.most);
  if (config.has("epochs")) goal.tokens = 0;
  settings.most_documents = config.get("max_sequences", settings.most_documents);
  check(settings.most_documents >= 0, ErrorKind::Usage,
        "[codelm.train] --max-sequences is {}; expected 1 or more, or 0 for all.",
        settings.most_documents);
}

}  // namespace

std::optional<AdapterOptions> read_adapter_settings(const Config& config) {
  AdapterOptions options;
  const bool named = config.has("lora_rank") || config.has("lora_targets");
  const bool wanted = config.get("lora", named);
  options.rank = config.get("lora_rank", options.rank);
  options.alpha = config.get("lora_alpha", 2 * static_cast<double>(options.rank));
  options.dropout = config.get("lora_dropout", options.dropout);
  options.rank_stabilized = config.get("lora_rslora", false);
  options.targets = config.get("lora_targets", std::vector<std::string>{});
  if (!wanted) return std::nullopt;
  nn::validate(
      nn::LoraOptions{.rank = options.rank, .alpha = options.alpha, .dropout = options.dropout});
  return options;
}

std::string read_base_weights(const Config& config, bool lora) {
  const auto form = config.get("base_weights", std::string());
  check(form.empty() || lora, ErrorKind::Usage,
        "[codelm.train] --base-weights {} is for --lora: quantised weights cannot be trained.",
        form);
  check(form.empty() || kernels::parse_quant_format(form), ErrorKind::Usage,
        "[codelm.train] unknown --base-weights; got '{}', expected int8, int4 or nf4.",
        printable(form));
  return form;
}

TrainSettings read_codelm_settings(const engine::Request& request) {
  const auto& config = request.config;
  TrainSettings settings;
  settings.data = config.get("data", std::string());
  settings.sequences = read_paths(config, "sequences");
  settings.val_sequences = read_paths(config, "val_sequences");
  check(
      settings.data.empty() != settings.sequences.empty(), ErrorKind::Usage,
      "[codelm.train] which data? got {}; give -d FOLDER or --sequences FILE. `ubique data codelm "
      "git REPOSITORY -o FOLDER` makes such a folder.",
      settings.data.empty() ? "none" : "both --data and --sequences");
  settings.tokenizer = config.get("tokenizer", std::string());
  settings.model = request.model;
  settings.adapter = read_adapter_settings(config);
  check(!settings.adapter || !settings.model.empty(), ErrorKind::Usage,
        "[codelm.train] --lora adapts a model; got no --model, expected the folder of one.");
  settings.base_weights = read_base_weights(config, settings.adapter.has_value());
  settings.recipe = engine::read_recipe(config, default_recipe(settings.adapter.has_value()));
  settings.val_share = config.get("val_share", settings.val_share);
  check(settings.val_share >= 0 && settings.val_share < 1, ErrorKind::Usage,
        "[codelm.train] val_share is out of range; got {}, expected at least 0, below 1.",
        settings.val_share);
  settings.val_rows = config.get("val_rows", settings.val_rows);
  read_samples(config, settings);
  read_goal(config, settings);
  read_packing(config, settings);
  return settings;
}

std::vector<engine::Option> codelm_train_options() {
  const auto data = engine::in_group(
      engine::kDataGroup,
      {{"-d,--data,--data-dir", "data", "PATH", "folder of `ubique data codelm git` or `import`"},
       {"--sequences", "sequences", "FILE", "or files: token lists, JSON lines, texts, shards"},
       {"--val-sequences", "val_sequences", "FILE", "held-out files"},
       {"--val-share", "val_share", "X", "share of documents held out of --sequences (0.05)"},
       {"--val-rows", "val_rows", "N", "validation rows during the run; all at the end (256)"},
       {"--tokenizer", "tokenizer", "PATH", "if it lies neither with the model nor with the data"},
       {"--sequence-length", "sequence_length", "N", "tokens of a row (1024, or the context)"},
       {"--contiguous", "contiguous", "", "one stream of all documents, as nanoGPT reads it"},
       {"--fim-rate", "fim_rate", "X", "share of documents turned into fill-in-the-middle (0)"},
       {"--fim-spm-share", "fim_spm_share", "X", "of those, with the suffix first (0.5)"},
       {"--curriculum-start", "curriculum_start", "N",
        "windows of documents have at most N tokens at first (as long as rows)"},
       {"--curriculum-end", "curriculum_end", "N", "and so many later (as long as rows)"},
       {"--curriculum-epochs", "curriculum_epochs", "N", "in which the length grows (1)"},
       {"--max-sequences", "max_sequences", "N", "train on the first N documents; 0 = all (0)"},
       {"--target-tokens", "target_tokens", "N", "choose the epochs by the tokens to train on"},
       {"--sample-prompts", "sample_prompts", "TEXT",
        "completed at each validation, for log and report"},
       {"--sample-tokens", "sample_tokens", "N", "tokens of such a completion (48)"},
       {"--sample-count", "sample_count", "N", "completions of each prompt (1)"},
       {"--sample-temperature", "sample_temperature", "X", "of these; 0 is greedy (0)"},
       {"--sample-top-p", "sample_top_p", "X", "likeliest tokens that they are drawn from (1)"},
       {"--sample-trim", "sample_trim", "N", "letters that are shown at most; 0 = all (0)"}});
  const auto model = engine::in_group(
      engine::kModelGroup,
      {{"--layers", "layers", "N", "of a new network (20)"},
       {"--hidden", "hidden", "N", "width of a new network (768)"},
       {"--heads", "heads", "N", "attention heads of a new network (12)"},
       {"--inner", "inner", "N", "width of its MLP (4 times hidden)"},
       {"--context", "context", "N", "positions of a new network (8192)"},
       {"--multi-query,!--no-multi-query", "multi_query", "", "one key head for all (on)"},
       {"--dropout", "dropout", "X", "of a new network (0)"}});
  const auto lora = engine::in_group(
      "LoRA", {{"--lora", "lora", "", "train adapters; the model stays as it is"},
               {"--lora-rank", "lora_rank", "N", "rank of the adapters (16)"},
               {"--lora-alpha", "lora_alpha", "X", "scale times rank (twice the rank)"},
               {"--lora-dropout", "lora_dropout", "X", "of the adapters' input (0.05)"},
               {"--base-weights", "base_weights", "FORM",
                "the frozen model in nf4 (QLoRA, double quantised), int8 or int4"},
               {"--lora-rslora", "lora_rslora", "", "scale by the root of the rank"},
               {"--lora-targets", "lora_targets", "NAMES",
                "layers by the end of their names, or all-linear (all of attention and MLP)"}});
  return engine::all_options({data, model, lora});
}

engine::Examples codelm_train_examples() {
  return {
      {"ubique train codelm --model starcoder2-3b --lora -d data/myrepo -o runs/myrepo",
       "an adapter that knows a repository"},
      {"ubique train codelm --sequences corpus.jsonl --tokenizer tokenizer.json --layers 6 "
       "--hidden 256 --heads 4 --context 1024 -o runs/small",
       "a small network from nothing"},
      {"ubique train codelm --model tiny_starcoder_py -d data/myrepo --fim-rate 0.5 -o runs/full",
       "all weights, half of the documents as fill-in-the-middle"}};
}

plan::Needs read_codelm_needs(const Config& config) {
  const auto folder = config.get("model", std::string());
  auto network = read_new_network(config);
  const auto adapter = read_adapter_settings(config);
  const auto form = read_base_weights(config, adapter.has_value());
  if (!folder.empty()) network = read_network_config(io::hub_folder(folder));
  auto use = planned_use(network, adapter, kernels::parse_quant_format(form));
  use.length = std::min(network.context, config.get("sequence_length", use.length));
  check(use.length >= 2, ErrorKind::Usage,
        "[codelm.plan] sequence_length is out of range; got {}, expected 2 or more.", use.length);
  use.averaged = config.get("ema", std::string("0")) != "0";
  return codelm_needs(network, use);
}

CodelmConfig read_new_network(const Config& config) {
  CodelmConfig network;
  network.architecture = Architecture::GptBigCode;
  network.fused_qkv = network.learned_positions = true;
  network.hidden = config.get("hidden", network.hidden);
  network.layers = config.get("layers", network.layers);
  network.heads = config.get("heads", network.heads);
  network.inner = config.get("inner", 4 * network.hidden);
  network.context = config.get("context", network.context);
  network.vocabulary = config.get("vocabulary", network.vocabulary);
  network.kv_heads = config.get("multi_query", true) ? 1 : network.heads;
  const auto dropout = config.get("dropout", 0.0);
  network.dropouts = {dropout, dropout, dropout};
  const auto in_range = [&](const char* key, std::int64_t value) {
    check(value >= 1 && value <= kLargestSize, ErrorKind::Usage,
          "[codelm.train] {} is out of range; got {}, expected 1 to {}.", key, value, kLargestSize);
  };
  in_range("hidden", network.hidden);
  in_range("layers", network.layers);
  in_range("heads", network.heads);
  in_range("inner", network.inner);
  in_range("context", network.context);
  in_range("vocabulary", network.vocabulary);
  check(dropout >= 0 && dropout < 1, ErrorKind::Usage,
        "[codelm.train] dropout is out of range; got {}, expected at least 0, below 1.", dropout);
  check(network.hidden % network.heads == 0, ErrorKind::Usage,
        "[codelm.train] hidden {} does not divide into {} heads.", network.hidden, network.heads);
  network.head_size = network.hidden / network.heads;
  return network;
}

}  // namespace ubique::codelm
