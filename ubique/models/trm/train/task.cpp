// SPDX-License-Identifier: Apache-2.0
// Building a training task from a request, and validation during training.
#include "ubique/models/trm/train/task.h"
#include "ubique/engine/walk/open_model.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/data/chat/chat_set.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/data/puzzles/use/puzzle_sampler.h"
#include "ubique/device/host.h"
#include "ubique/models/trm/files/weights.h"
#include "ubique/models/trm/score/evaluation.h"
#include "ubique/models/trm/use/steps_picture.h"

namespace ubique::trm {
namespace {

constexpr std::int64_t kMaxValidationBatch = 512;

/// Kind, grid and number of puzzles from the data set, also for a network trained on others.
void set_puzzle_kind(const data::PuzzleMetadata& metadata, TrmConfig& config) {
  config.num_puzzle_identifiers = metadata.num_puzzle_identifiers;
  const auto& layout = metadata.layout;
  if (layout.kind != data::PuzzleKind::Other) {
    config.kind = data::to_string(layout.kind);
    const bool square = layout.rows == layout.cols;
    config.rows = square ? 0 : layout.rows;
    config.cols = square ? 0 : layout.cols;
  } else if (data::is_chat_set(metadata)) {
    config.kind = "chat";
  }
}

TrmConfig config_of(const data::PuzzleMetadata& metadata) {
  TrmConfig config;
  config.seq_len = metadata.seq_len;
  config.vocab_size = metadata.vocab_size;
  set_puzzle_kind(metadata, config);
  return config;
}

/// The keys of `arch` over the configuration of a weight file. Values that read_arch() would derive
/// are kept from the file.
TrmConfig config_over_file(const Config& arch, const TrmConfig& file) {
  auto config = read_arch(arch, file);
  if (!arch.has("puzzle_emb_ndim")) config.puzzle_emb_ndim = file.puzzle_emb_ndim;
  if (!arch.has("pos_encodings") && config.mlp_t == file.mlp_t) config.positions = file.positions;
  return config;
}

/// A wrong number in a data set's description must not end in a failed allocation.
void check_memory(const TrmConfig& config) {
  const auto& host = device::host();
  const auto most = host.container_limit > 0 ? std::min(host.container_limit, host.memory_total)
                                             : host.memory_total;
  const auto bytes = stored_count(config) * static_cast<std::int64_t>(sizeof(float));
  check(bytes <= most, ErrorKind::Device,
        "[trm.train] the weights do not fit into memory; got {} for {} tokens and {} puzzles "
        "(vocab_size and num_puzzle_identifiers of dataset.json), expected at most {}.",
        human_bytes(bytes), config.vocab_size, config.num_puzzle_identifiers, human_bytes(most));
}

/// A new model, or one with the weights of a file and a puzzle table of this data set's size.
std::unique_ptr<TrmModel> start_model(const Config& config, const std::string& file,
                                      const data::PuzzleMetadata& metadata) {
  const auto arch = config.section("arch");
  if (file.empty()) {
    const auto config = read_arch(arch, config_of(metadata));
    check_memory(config);
    return std::make_unique<TrmModel>(config);
  }
  const auto opened = engine::open_model(file, "trm");
  auto& trm = dynamic_cast<TrmModel&>(*opened);
  auto wanted = trm.settings();
  if (metadata.seq_len == wanted.seq_len) set_puzzle_kind(metadata, wanted);
  wanted = config_over_file(arch, wanted);
  check_memory(wanted);
  return with_weights_of(wanted, trm, file);
}

/// The labels of a conversation are its own tokens, shifted by one position.
void check_causal_for_chat(const data::PuzzleMetadata& metadata, const TrmConfig& network) {
  check(
      !data::is_chat_set(metadata) || network.causal, ErrorKind::Usage,
      "[trm.train] conversations need causal attention: the labels are the inputs shifted by one "
      "token, so a network that sees later tokens would copy them; got arch.causal false, expected "
      "true. Write arch.causal=true, or use --config configs/trm/chat.yaml, which has it.");
}

/// With causal attention a cell does not see the clues after it.
void warn_causal_puzzles(const data::PuzzleMetadata& metadata, const TrmConfig& network) {
  if (data::is_chat_set(metadata) || !network.causal) return;
  log::warn(
      "[trm.train] puzzles with causal attention: no cell sees the clues after it. Puzzles are "
      "trained "
      "with arch.causal=false; `ubique data trm chat` makes a chat set.");
}

/// Chat models are compared by loss: hardly ever is a whole conversation predicted exactly.
void watch_chat_loss(const Config& config, engine::Recipe& recipe) {
  if (config.has("watch")) return;
  recipe.watch = "lm_loss";
  recipe.watch_higher = config.get("watch_higher", engine::higher_is_better(recipe.watch));
}

/// A recipe with few updates on a handful of conversations answers with blanks.
void warn_few_updates(const data::PuzzleSet& set, const TrainSettings& settings) {
  constexpr std::int64_t kFew = 100, kEnough = 300;  // 36 talks answer after some 120 updates
  const auto& recipe = settings.recipe;
  if (!data::is_chat_set(set.metadata) || recipe.max_steps > 0 || !settings.model.empty()) return;
  const auto updates =
      recipe.epochs * data::planned_updates(set.metadata, settings.passes, settings.batch);
  if (updates >= kFew) return;
  const auto times = kEnough / std::max<std::int64_t>(updates, 1);
  log::warn(
      "[trm.train] {} conversations are few for this recipe: {} updates, and a new chat model "
      "needs some hundreds before it answers. More conversations, a smaller global_batch_size (now "
      "{}) or more epochs (now {}; try epochs={}) give more.",
      set.groups(), updates, settings.batch, settings.total_passes, settings.total_passes * times);
}

bool should_augment(const TrainSettings& settings, const data::PuzzleSet& set) {
  if (settings.augment) return *settings.augment;
  // A data set made by Ubique without stored variants: variants are made while training.
  return !set.metadata.provenance.is_null() && set.groups() == set.puzzles() &&
         data::has_augmentation(set.metadata.layout);
}

std::shared_ptr<const data::PuzzleSet> read_test_set(const TrainSettings& settings) {
  const auto& folders = settings.test.empty() ? settings.data : settings.test;
  std::error_code ignored;
  const auto has_test = [&](const std::filesystem::path& folder) {
    return std::filesystem::exists(folder / "test" / "dataset.json", ignored);
  };
  if (settings.test.empty() && !std::ranges::all_of(folders, has_test)) return nullptr;
  return std::make_shared<const data::PuzzleSet>(data::read_puzzle_sets(folders, "test"));
}

}  // namespace

std::unique_ptr<TrmTask> make_task(const engine::Request& request) {
  TaskParts parts;
  parts.settings = read_train_settings(request);
  auto& settings = parts.settings;
  auto& recipe = settings.recipe;
  // A mistyped key is named before data are read; the defaults of `arch` come from them.
  read_arch_keys(request.config.section("arch"), {});
  request.config.finish();
  auto set =
      std::make_shared<const data::PuzzleSet>(data::read_puzzle_sets(settings.data, "train"));
  parts.test = read_test_set(settings);
  parts.model = start_model(request.config, settings.model, set->metadata);
  const auto& network = parts.model->settings();
  check_fits(*set, network, "the training set");
  check_causal_for_chat(set->metadata, network);
  warn_causal_puzzles(set->metadata, network);
  if (data::is_chat_set(set->metadata)) watch_chat_loss(request.config, recipe);
  warn_few_updates(*set, settings);
  if (parts.test) check_fits(*parts.test, network, "the test set");
  if (settings.freeze_weights) {
    for (auto& parameter : parts.model->network().parameters()) parameter.requires_grad_(false);
  }
  if (!parts.test) recipe.watch.clear();
  if (recipe.max_steps == 0 && recipe.schedule.steps == 0) {
    recipe.schedule.steps =
        data::planned_updates(set->metadata, settings.total_passes, settings.batch);
  }
  const bool augment = should_augment(settings, *set);
  log::info("{}: {} training puzzles ({}{}), {} for validation", network.name(), set->groups(),
            network.kind == "chat" ? network.kind : data::describe(set->metadata.layout),
            augment ? ", a random variant at every draw" : "",
            parts.test ? parts.test->examples() : 0);
  parts.training = std::make_unique<PuzzleDataset>(
      set, DatasetOptions{recipe.seed, settings.passes, augment, network.halt_max_steps,
                          network.halt_exploration_prob});
  parts.provenance = {{"kind", network.kind}, {"passes", settings.total_passes}};
  return std::make_unique<TrmTask>(std::move(parts));
}

void TrmTask::checkpoint_saved(const std::filesystem::path& folder) {
  data::copy_chat_tokenizer(parts_.settings.data.front(), folder);
}

std::unique_ptr<engine::Optimizer> TrmTask::make_optimizer(
    const engine::OptimizerOptions& options) {
  return make_trm_optimizer(*parts_.model, options, parts_.settings.table);
}

std::vector<engine::ReportPicture> TrmTask::pictures() {
  if (!parts_.test) return {};
  auto& network = parts_.model->trm();
  const auto picture = draw_steps(network, forward_dtype(network), *parts_.test, 0);
  if (picture.pixels.empty()) return {};
  return {
      {"the first held-out puzzle, one grid for every step: grey is given, green right, red "
       "wrong",
       io::png_bytes(picture)}};
}

engine::Scores TrmTask::evaluate_on(std::int64_t limit) {
  if (!parts_.test) return {};
  auto& network = parts_.model->trm();
  const auto weights = network.cast(forward_dtype(network));
  EvaluationOptions options;
  options.batch = std::min(parts_.model->micro_batch(), kMaxValidationBatch);
  options.limit = limit;
  return evaluate(network, weights, *parts_.test, options);
}

}  // namespace ubique::trm
