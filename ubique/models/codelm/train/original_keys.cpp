// SPDX-License-Identifier: Apache-2.0
// The table of the original's keys, and those of them that one row cannot say.
#include "ubique/models/codelm/train/original_keys.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::codelm {
namespace {

enum class KeyUse {
  Setting,    // the value of our key `text`
  Plan,       // read by the plan (plan/adopted_keys.cpp)
  Switch,     // read by a function below
  Only,       // has one possible value, `text`
  Elsewhere,  // worked in the original, is decided otherwise here: `text`
  Nothing,    // did nothing in the original
};

struct OriginalKey {
  const char* key;
  KeyUse use;
  const char* text = "";
  const char* why = "";  // of Only
};

constexpr const char* kNoBiases = "adapters here have no biases";
constexpr const char* kOneForm = "quantised weights have one form on every device";
constexpr const char* kAlwaysKept = "a run keeps its best and its last checkpoint";
constexpr const char* kPlanned = "the plan chooses the batch by the memory there is";

// Of several keys with one meaning the first that is given counts.
const OriginalKey kModelKeys[] = {
    {"model.name", KeyUse::Setting, "model"},
    {"model.pretrained_model", KeyUse::Setting, "model"},
    {"model.tokenizer_name", KeyUse::Switch},
    {"model.use_4bit", KeyUse::Switch},
    {"model.use_8bit", KeyUse::Switch},
    {"model.use_bf16", KeyUse::Plan},
    {"model.use_fp16", KeyUse::Plan},
    {"model.torch_dtype", KeyUse::Plan},
    {"model.mps_prefer_fp16", KeyUse::Plan},
    {"model.use_lora", KeyUse::Setting, "lora"},
    {"model.lora.r", KeyUse::Setting, "lora_rank"},
    {"model.lora.lora_alpha", KeyUse::Setting, "lora_alpha"},
    {"model.lora.lora_dropout", KeyUse::Setting, "lora_dropout"},
    {"model.lora.target_modules", KeyUse::Setting, "lora_targets"},
    {"model.lora.bias", KeyUse::Only, "none", kNoBiases},
    {"context_window", KeyUse::Setting, "sequence_length"},
    {"training.context_window", KeyUse::Setting, "sequence_length"},
    {"quantization.context_window", KeyUse::Setting, "sequence_length"},
    {"model.max_position_embeddings", KeyUse::Setting, "sequence_length"},
    {"model.vocab_size_override", KeyUse::Only, "null", "the vocabulary is the tokenizer's"},
    {"model.synthetic_model", KeyUse::Switch},
    {"model.synthetic_n_positions", KeyUse::Setting, "context"},
    {"model.synthetic_n_embd", KeyUse::Setting, "hidden"},
    {"model.synthetic_n_layer", KeyUse::Setting, "layers"},
    {"model.synthetic_n_head", KeyUse::Setting, "heads"},
    {"model.synthetic_vocab_size", KeyUse::Elsewhere, "the vocabulary is the tokenizer's"},
    {"model.trust_remote_code", KeyUse::Elsewhere, "no code of a model's folder is ever run"},
    {"model.max_new_tokens", KeyUse::Elsewhere, "of run codelm, --max-new-tokens"},
    {"model.mps_quant_dtype", KeyUse::Elsewhere, kOneForm},
    {"model.mps_group_size", KeyUse::Elsewhere, kOneForm},
    {"model.mps_compute_dtype", KeyUse::Elsewhere, kOneForm},
    {"model.device_map", KeyUse::Nothing},
    {"model.add_special_tokens", KeyUse::Nothing},
    {"model.extra_special_tokens_max", KeyUse::Nothing},
    {"quantization.load_in_4bit", KeyUse::Switch},
    {"quantization.load_in_8bit", KeyUse::Switch},
    {"quantization.bnb_4bit_quant_type", KeyUse::Only, "nf4", "weights in four bits are NF4"},
    {"quantization.bnb_4bit_use_double_quant", KeyUse::Nothing},
    {"quantization.bnb_4bit_compute_dtype", KeyUse::Nothing},
    {"quantization.lora_enabled", KeyUse::Setting, "lora"},
    {"quantization.lora_rank", KeyUse::Setting, "lora_rank"},
    {"quantization.lora_alpha", KeyUse::Setting, "lora_alpha"},
    {"quantization.lora_dropout", KeyUse::Setting, "lora_dropout"},
    {"quantization.lora_target_modules", KeyUse::Setting, "lora_targets"},
    {"quantization.lora_bias", KeyUse::Only, "none", kNoBiases},
    {"quantization.train_path", KeyUse::Nothing},
    {"quantization.val_path", KeyUse::Nothing},
    {"quantization.test_path", KeyUse::Nothing},
    {"quantization.target_window", KeyUse::Nothing},
};

const OriginalKey kTrainingKeys[] = {
    {"training.base_learning_rate", KeyUse::Setting, "lr"},
    {"optimization.learning_rate", KeyUse::Setting, "lr"},
    {"training.warmup_ratio", KeyUse::Setting, "warmup"},
    {"optimization.warmup_ratio", KeyUse::Setting, "warmup"},
    {"training.warmup_steps_min", KeyUse::Setting, "warmup_steps_min"},
    {"training.warmup_steps_max", KeyUse::Setting, "warmup_steps_max"},
    {"optimization.warmup_steps", KeyUse::Switch},
    {"training.weight_decay", KeyUse::Setting, "weight_decay"},
    {"optimization.weight_decay", KeyUse::Setting, "weight_decay"},
    {"training.max_grad_norm", KeyUse::Setting, "clip_norm"},
    {"optimization.max_grad_norm", KeyUse::Setting, "clip_norm"},
    {"optimization.lr_scheduler", KeyUse::Setting, "schedule"},
    {"optimization.optimizer", KeyUse::Setting, "optimizer"},
    {"training.batch_size_reference", KeyUse::Plan},
    {"training.batch_size_large", KeyUse::Plan},
    {"training.batch_size_medium", KeyUse::Plan},
    {"training.batch_size_small", KeyUse::Plan},
    {"optimization.batch_size", KeyUse::Plan},
    {"training.gradient_accumulation_steps", KeyUse::Plan},
    {"optimization.gradient_accumulation_steps", KeyUse::Plan},
    {"training.use_mixed_precision", KeyUse::Plan},
    {"optimization.use_mixed_precision", KeyUse::Plan},
    {"optimization.mixed_precision", KeyUse::Plan},
    {"training.autocast_dtype", KeyUse::Plan},
    {"training.use_gradient_checkpointing", KeyUse::Plan},
    {"optimization.gradient_checkpointing", KeyUse::Plan},
    {"training.num_workers", KeyUse::Plan},
    {"training.pin_memory", KeyUse::Plan},
    {"training.deterministic_mode", KeyUse::Plan},
    {"training.seed", KeyUse::Setting, "seed"},
    {"training.num_epochs", KeyUse::Setting, "epochs"},
    {"training.max_sequences_limit", KeyUse::Setting, "max_sequences"},
    {"training.trim_priority", KeyUse::Elsewhere, "the first documents of the data are taken"},
    {"training.max_steps", KeyUse::Setting, "max_steps"},
    {"training.save_steps", KeyUse::Setting, "checkpoint_every"},
    {"training.save_total_limit", KeyUse::Setting, "keep"},
    {"training.logging_steps", KeyUse::Setting, "log_every"},
    {"training.validation_split", KeyUse::Setting, "val_share"},
    {"training.lr_plateau_patience", KeyUse::Setting, "patience"},
    {"training.patience", KeyUse::Setting, "patience"},
    {"training.min_delta", KeyUse::Setting, "min_delta"},
    {"training.objectives.fim_rate", KeyUse::Setting, "fim_rate"},
    {"training.objectives.span_rate", KeyUse::Only, "0",
     "spans are not trained; fim_rate trains filling in the middle"},
    {"training.curriculum.enabled", KeyUse::Switch},
    {"training.curriculum.start_max_len", KeyUse::Switch},
    {"training.curriculum.end_max_len", KeyUse::Switch},
    {"training.curriculum.warmup_epochs", KeyUse::Switch},
    {"training.ema.enabled", KeyUse::Switch},
    {"training.ema.decay", KeyUse::Switch},
    {"training.use_sequence_packing", KeyUse::Only, "true", "documents are always packed"},
    {"training.drop_full_attention_mask", KeyUse::Elsewhere, "the plan chooses the attention"},
    {"training.incremental_context_sequences", KeyUse::Elsewhere,
     "data codelm git reads the new commits"},
    {"training.objectives.span_frac", KeyUse::Nothing},
    {"training.lr_reduction_factor", KeyUse::Nothing},
    {"training.eval_steps", KeyUse::Nothing},
};

const OriginalKey kOtherKeys[] = {
    {"evaluation.run_behavioral_eval", KeyUse::Switch},
    {"evaluation.behavioral_test_prompts", KeyUse::Switch},
    {"evaluation.eval_do_sample", KeyUse::Switch},
    {"evaluation.eval_temperature", KeyUse::Switch},
    {"evaluation.eval_top_p", KeyUse::Setting, "sample_top_p"},
    {"evaluation.eval_max_length", KeyUse::Setting, "sample_tokens"},
    {"evaluation.eval_num_return_sequences", KeyUse::Setting, "sample_count"},
    {"evaluation.eval_output_trim", KeyUse::Setting, "sample_trim"},
    {"evaluation.eval_every_n_epochs", KeyUse::Setting, "validate_every"},
    {"model_saving.save_ckpt_every_n_epochs", KeyUse::Setting, "checkpoint_epochs"},
    {"model_saving.save_adapter_only", KeyUse::Elsewhere,
     "a run keeps the adapter, convert --format huggingface merges it"},
    {"model_saving.save_best_model", KeyUse::Elsewhere, kAlwaysKept},
    {"model_saving.save_final_model", KeyUse::Elsewhere, kAlwaysKept},
    {"output.save_model", KeyUse::Elsewhere, kAlwaysKept},
    {"model_saving.use_curriculum", KeyUse::Nothing},
    {"model_saving.weight_by_recency", KeyUse::Nothing},
    {"model_saving.weight_by_directory", KeyUse::Nothing},
    {"model_saving.weight_by_author", KeyUse::Nothing},
    {"model_saving.recency_multiplier", KeyUse::Nothing},
    {"model_saving.directory_multiplier", KeyUse::Nothing},
    {"model_saving.author_multiplier", KeyUse::Nothing},
    {"hardware_monitoring.collection_interval_seconds", KeyUse::Elsewhere,
     "memory is measured at every logged step"},
    {"hardware_monitoring.gpu_memory_threshold_large_gb", KeyUse::Elsewhere, kPlanned},
    {"hardware_monitoring.gpu_memory_threshold_medium_gb", KeyUse::Elsewhere, kPlanned},
    {"epoch_calculation.target_tokens", KeyUse::Setting, "target_tokens"},
    {"epoch_calculation.min_epochs", KeyUse::Setting, "min_epochs"},
    {"epoch_calculation.max_epochs", KeyUse::Setting, "max_epochs"},
    {"device_backend.force_device", KeyUse::Plan},
    {"device_backend.attention_backend", KeyUse::Plan},
    {"device_backend.max_vram_gb", KeyUse::Plan},
    {"max_vram_gb", KeyUse::Plan},
    {"inference.max_length", KeyUse::Nothing},
    {"inference.do_sample", KeyUse::Nothing},
    {"inference.top_p", KeyUse::Nothing},
    {"inference.temperature", KeyUse::Nothing},
    {"inference.num_beams", KeyUse::Nothing},
    {"output.output_dir", KeyUse::Nothing},
    {"output.overwrite_output_dir", KeyUse::Nothing},
    {"output.save_optimizer", KeyUse::Nothing},
};

template <typename Work>
void for_each_key(const Work& work) {
  for (const auto& row : kModelKeys) work(row);
  for (const auto& row : kTrainingKeys) work(row);
  for (const auto& row : kOtherKeys) work(row);
}

bool is_on(const Config& config, const char* key, bool fallback = false) {
  return config.find<bool>(key).value_or(fallback);
}

void adopt_base_weights(Config& config) {
  const std::pair<const char*, const char*> pairs[] = {
      {"model.use_4bit", "model.use_8bit"},
      {"quantization.load_in_4bit", "quantization.load_in_8bit"}};
  for (const auto& [four, eight] : pairs) {
    const bool in_four = is_on(config, four), in_eight = is_on(config, eight);
    check(!in_four || !in_eight, ErrorKind::Usage,
          "[codelm.settings] {}: {} and {} are both on; expected one of them.", config.where(four),
          four, eight);
    if (in_four) config.imply("base_weights", "nf4", config.where(four));
    if (in_eight) config.imply("base_weights", "int8", config.where(eight));
  }
}

/// synthetic_model: a small new network instead of a published one.
void adopt_model(Config& config) {
  const bool synthetic = is_on(config, "model.synthetic_model");
  if (synthetic) config.imply("model", "null", config.where("model.synthetic_model"));
  const auto tokenizer = config.find<std::string>("model.tokenizer_name");
  if (tokenizer && tokenizer != config.find<std::string>("model.name")) {
    config.adopt("tokenizer", "model.tokenizer_name");
  }
}

void adopt_curriculum(Config& config) {
  const std::pair<const char*, const char*> names[] = {
      {"curriculum_start", "training.curriculum.start_max_len"},
      {"curriculum_end", "training.curriculum.end_max_len"},
      {"curriculum_epochs", "training.curriculum.warmup_epochs"}};
  const bool on = is_on(config, "training.curriculum.enabled");
  for (const auto& [ours, key] : names) {
    config.expect(key);
    if (on) config.adopt(ours, key);
  }
}

void adopt_averages(Config& config) {
  const auto decay = config.get("training.ema.decay", 0.999);
  if (!is_on(config, "training.ema.enabled")) return;
  config.imply("ema", fmt::format("{}", decay), config.where("training.ema.enabled"));
}

/// With a ratio beside it, the original took the number of steps as the most of them.
void adopt_warm_up(Config& config) {
  const bool share = config.has("optimization.warmup_ratio") || config.has("training.warmup_ratio");
  config.adopt(share ? "warmup_steps_max" : "warmup_steps", "optimization.warmup_steps");
}

void adopt_samples(Config& config) {
  config.expect("evaluation.behavioral_test_prompts");
  config.expect("evaluation.eval_temperature");
  if (is_on(config, "evaluation.run_behavioral_eval", true)) {
    config.adopt("sample_prompts", "evaluation.behavioral_test_prompts");
  }
  if (is_on(config, "evaluation.eval_do_sample", true)) {
    config.adopt("sample_temperature", "evaluation.eval_temperature");
  }
}

/// AdamW and the cosine as the original had them, where its file says nothing.
void adopt_recipe(Config& config) {
  const auto source = config.where("");
  config.imply("beta2", "0.999", source);
  config.imply("decay_matrices_only", "false", source);
  config.imply("lr_floor", "0", source);
  config.imply("val_share", "0.1", source);
}

void check_only_value(const Config& config, const OriginalKey& row) {
  const auto value = config.find<std::string>(row.key);
  if (!value || lowercase(*value) == row.text) return;
  const auto number = parse_number(*value), wanted = parse_number(row.text);
  if (number && wanted && *number == *wanted) return;
  fail(ErrorKind::Usage, "[codelm.settings] {}: {} has no counterpart; got '{}', expected {}: {}.",
       config.where(row.key), row.key, printable(*value), row.text, row.why);
}

void log_notes(const Config& config) {
  const auto idle = idle_original_keys(config);
  if (!idle.empty()) {
    log::info("did nothing in the original and does nothing here: {}", join(idle, ", "));
  }
  std::vector<std::string> others;
  for_each_key([&](const OriginalKey& row) {
    if (row.use == KeyUse::Elsewhere && config.has(row.key)) {
      others.push_back(fmt::format("{} ({})", row.key, row.text));
    }
  });
  if (!others.empty()) log::info("decided otherwise here: {}", join(others, ", "));
}

}  // namespace

std::vector<std::string> idle_original_keys(const Config& config) {
  std::vector<std::string> idle;
  for_each_key([&](const OriginalKey& row) {
    if (row.use == KeyUse::Nothing && config.has(row.key)) idle.emplace_back(row.key);
  });
  return idle;
}

void adopt_original_keys(Config& config) {
  config.expect("model");  // a path in our own files, a section in the original's
  adopt_model(config);
  adopt_base_weights(config);
  adopt_curriculum(config);
  adopt_averages(config);
  adopt_warm_up(config);
  adopt_samples(config);
  bool trains = false;
  for_each_key([&](const OriginalKey& row) {
    config.expect(row.key);
    if (row.use == KeyUse::Only) check_only_value(config, row);
    if (row.use != KeyUse::Setting || !config.adopt(row.text, row.key)) return;
    const std::string_view key = row.key;
    trains = trains || key.starts_with("training.") || key.starts_with("optimization.");
  });
  config.imply("model", "null", "default");  // the section alone names no model
  if (trains) adopt_recipe(config);
  log_notes(config);
}

}  // namespace ubique::codelm
