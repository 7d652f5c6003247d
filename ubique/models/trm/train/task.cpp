// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/trm/train/task.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/data/chat/chat_set.h"
#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/data/puzzles/use/puzzle_sampler.h"
#include "ubique/models/trm/files/weights.h"
#include "ubique/models/trm/score/evaluation.h"
#include "ubique/models/trm/use/steps_picture.h"

namespace ubique::trm {
namespace {

constexpr std::int64_t kMostAtOnce = 512;  // in validation

/// What the puzzles are: also for a network that knew others before.
void describe_puzzles(const data::PuzzleMetadata& metadata, TrmConfig& config) {
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
  describe_puzzles(metadata, config);
  return config;
}

/// Keys of `arch` over a file's own form; what read_arch() would derive stays the file's.
TrmConfig adapted(const Config& arch, const TrmConfig& file) {
  auto config = read_arch(arch, file);
  if (!arch.has("puzzle_emb_ndim")) config.puzzle_emb_ndim = file.puzzle_emb_ndim;
  if (!arch.has("pos_encodings") && config.mlp_t == file.mlp_t) config.positions = file.positions;
  return config;
}

/// Fresh, or with the weights of a file and a table of this data's size.
std::unique_ptr<TrmModel> start_model(const Config& config, const std::string& file,
                                      const data::PuzzleMetadata& metadata) {
  const auto arch = config.section("arch");
  if (file.empty()) return std::make_unique<TrmModel>(read_arch(arch, config_of(metadata)));
  const auto opened = engine::open_model(file, "trm");
  auto& trm = dynamic_cast<TrmModel&>(*opened);
  auto wanted = trm.settings();
  if (metadata.seq_len == wanted.seq_len) describe_puzzles(metadata, wanted);
  return with_weights_of(adapted(arch, wanted), trm, file);
}

/// A conversation's labels are its own tokens, one place earlier.
void check_looks_back(const data::PuzzleMetadata& metadata, const TrmConfig& network) {
  check(!data::is_chat_set(metadata) || network.causal, ErrorKind::Usage,
        "[trm.train] conversations with a network that sees the tokens to come: the labels are the "
        "inputs, one place earlier, so it would read them off; got arch.causal false, expected "
        "true. Write arch.causal=true, or take --config configs/trm/chat.yaml, which has it.");
}

/// A cell that looks back alone cannot know the clues behind it.
void doubt_causal_puzzles(const data::PuzzleMetadata& metadata, const TrmConfig& network) {
  if (data::is_chat_set(metadata) || !network.causal) return;
  log::warn(
      "[trm.train] a network that only looks back, and puzzles: no cell sees the clues behind it. "
      "arch.causal=false is what puzzles are learnt with; `ubique data trm chat` makes talks.");
}

/// How well talks held out are foreseen: hardly ever is one right from end to end.
void watch_chat(const Config& config, engine::Recipe& recipe) {
  if (config.has("watch")) return;
  recipe.watch = "lm_loss";
  recipe.watch_higher = config.get("watch_higher", engine::higher_is_better(recipe.watch));
}

bool augments(const TrainSettings& settings, const data::PuzzleSet& set) {
  if (settings.augment) return *settings.augment;
  // A set of ours without stored variants: twins are made as they are needed.
  return !set.metadata.made_with.is_null() && set.groups() == set.puzzles() &&
         data::has_twins(set.metadata.layout);
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
  auto set =
      std::make_shared<const data::PuzzleSet>(data::read_puzzle_sets(settings.data, "train"));
  parts.test = read_test_set(settings);
  parts.model = start_model(request.config, settings.model, set->metadata);
  const auto& network = parts.model->settings();
  check_fits(*set, network, "the training set");
  check_looks_back(set->metadata, network);
  doubt_causal_puzzles(set->metadata, network);
  if (data::is_chat_set(set->metadata)) watch_chat(request.config, recipe);
  if (parts.test) check_fits(*parts.test, network, "the test set");
  if (settings.freeze_weights) {
    for (auto& parameter : parts.model->network().parameters()) parameter.requires_grad_(false);
  }
  if (!parts.test) recipe.watch.clear();
  if (recipe.max_steps == 0) {
    recipe.schedule.steps =
        data::planned_updates(set->metadata, settings.all_passes, settings.batch);
  }
  const bool augment = augments(settings, *set);
  log::info("{}: {} puzzles to learn from ({}{}), {} to validate with", network.name(),
            set->groups(),
            network.kind == "chat" ? network.kind : data::describe(set->metadata.layout),
            augment ? ", every draw a twin" : "", parts.test ? parts.test->examples() : 0);
  parts.training = std::make_unique<PuzzleDataset>(
      set, DatasetOptions{recipe.seed, settings.passes, augment, network.halt_max_steps,
                          network.halt_exploration_prob});
  parts.provenance = {{"kind", network.kind}, {"passes", settings.all_passes}};
  return std::make_unique<TrmTask>(std::move(parts));
}

void TrmTask::checkpoint_saved(const std::filesystem::path& folder) {
  data::keep_chat_tokenizer(parts_.settings.data.front(), folder);
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
      {"the first puzzle held out, one grid for every step: grey is given, green right, red "
       "wrong",
       io::png_bytes(picture)}};
}

engine::Scores TrmTask::evaluate_on(std::int64_t limit) {
  if (!parts_.test) return {};
  auto& network = parts_.model->trm();
  const auto weights = network.cast(forward_dtype(network));
  EvaluationOptions options;
  options.batch = std::min(parts_.model->at_once(), kMostAtOnce);
  options.limit = limit;
  return evaluate(network, weights, *parts_.test, options);
}

}  // namespace ubique::trm
