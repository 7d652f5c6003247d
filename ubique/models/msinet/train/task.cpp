// SPDX-License-Identifier: Apache-2.0
// Builds the task from a request; validation scores and pictures; the results folder.
#include "ubique/models/msinet/train/task.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/models/msinet/data/open_data.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/net/loss.h"
#include "ubique/models/msinet/score/metric_pairs.h"
#include "ubique/models/msinet/train/results.h"
#include "ubique/models/msinet/train/start.h"
#include "ubique/models/msinet/use/heatmap.h"
#include "ubique/models/msinet/use/predictor.h"

namespace ubique::msinet {
namespace {

constexpr std::int64_t kPictures = 2, kValidationBatch = 8;

std::unique_ptr<MsiNetModel> start_model(const engine::Request& request,
                                         const MsiNetConfig& asked) {
  auto file = start_file(request);
  if (!file) return std::make_unique<MsiNetModel>(asked);
  file->config.size = asked.size;
  file->config.dataset = asked.dataset;
  file->config.device.clear();  // of the earlier training
  const auto seed = static_cast<std::uint64_t>(request.config.get<std::int64_t>("seed", 42));
  auto model = std::make_unique<MsiNetModel>(*file, Random(seed));
  model->set_initialized();
  return model;
}

/// Scores that a run can watch, and whether higher is better.
constexpr std::pair<const char*, bool> kWatched[] = {
    {"loss", false}, {"kld", false}, {"cc", true}, {"sim", true}, {"nss", true}};

void settle_watch(const Config& config, bool has_fixations, engine::Recipe& recipe) {
  const auto found =
      std::ranges::find(kWatched, recipe.watch, &std::pair<const char*, bool>::first);
  std::vector<std::string> names;
  for (const auto& [name, higher] : kWatched) names.emplace_back(name);
  check(found != std::end(kWatched), ErrorKind::Usage,
        "[msinet.train] no score has the name to watch; got watch {}, expected one of {}.{}",
        recipe.watch, join(names, ", "), hint(recipe.watch, names));
  check(recipe.watch != "nss" || has_fixations, ErrorKind::Usage,
        "[msinet.train] NSS needs fixations; got none for the validation pictures. Give "
        "--fixations, or watch cc.");
  recipe.watch_higher = config.get("watch_higher", found->second);
}

MeasuredMap<float> measured(const at::Tensor& map) {  // (H, W), contiguous f32
  return {std::span(map.const_data_ptr<float>(), static_cast<std::size_t>(map.numel())),
          static_cast<int>(map.size(1)), static_cast<int>(map.size(0))};
}

io::Picture picture_of(const at::Tensor& image) {  // (3, H, W), 0 to 255
  const auto bytes = image.clamp(0, 255).round().permute({1, 2, 0}).to(at::kByte).contiguous();
  const auto* from = bytes.const_data_ptr<std::uint8_t>();
  return {static_cast<int>(image.size(2)),
          static_cast<int>(image.size(1)),
          3,
          {from, from + bytes.numel()}};
}

/// Sums of validation scores.
/// loss, kld, cc, sim of a map, and nss if there are fixations on it.
Json scores_of(const at::Tensor& map, const at::Tensor& truth, std::span<const MapPoint> points) {
  const auto got = measured(map), wanted = measured(truth);
  Json scores = {kld_loss(map.unsqueeze(0).unsqueeze(0), truth.unsqueeze(0)).item<double>(),
                 msinet::kld(got, wanted), msinet::cc(got, wanted),
                 msinet::sim(got, wanted, Definition::Tuebingen)};
  std::int64_t outside = 0;
  const auto inside = keep_inside(points, got.width, got.height, outside);
  if (!inside.empty()) scores.push_back(msinet::nss(got, inside, Definition::Tuebingen));
  return scores;
}

struct ScoreSums {
  double loss = 0, kld = 0, cc = 0, sim = 0, nss = 0;
  std::int64_t maps = 0, with_fixations = 0;

  void add(const Json& scores) {
    loss += scores[0].get<double>();
    kld += scores[1].get<double>();
    cc += scores[2].get<double>();
    sim += scores[3].get<double>();
    ++maps;
    if (scores.size() < 5) return;
    nss += scores[4].get<double>();
    ++with_fixations;
  }

  engine::Scores means() const {
    const auto count = static_cast<double>(std::max<std::int64_t>(maps, 1));
    engine::Scores scores = {
        {"loss", loss / count}, {"kld", kld / count}, {"cc", cc / count}, {"sim", sim / count}};
    if (with_fixations > 0) {
      scores.emplace_back("nss", nss / static_cast<double>(with_fixations));
    }
    return scores;
  }
};

}  // namespace

engine::Recipe original_recipe() {
  engine::Recipe recipe;
  recipe.epochs = 10;
  recipe.optimizer.name = "adam_tf1";
  recipe.optimizer.lr = 1e-5;
  recipe.watch = "loss";
  recipe.watch_higher = false;
  return recipe;
}

std::vector<engine::Option> msinet_train_options() {
  const auto model = engine::in_group(
      engine::kModelGroup,
      {{"--preset", "preset", "NAME", "msinet or msinet-small"},
       {"--width", "width", "FACTOR", "all layers narrower or wider (1)"},
       {"--size", "size", "H,W", "height and width that pictures are brought to"},
       {"--upsample", "upsample", "NAME", "legacy (the original's) or half_pixel"},
       {"--preprocess", "preprocess", "NAME", "msinet, torchvision or caffe: the means"}});
  const auto training = engine::in_group(
      engine::kTrainingGroup,
      {{"--flip,!--no-flip", "flip", "", "half of the pictures mirrored (off, as the original)"},
       {"--results", "results", "PATH",
        "weights and history by the original's names, shared by runs (RUN/results)"}});
  return engine::all_options({saliency_data_options(), model, training});
}

std::unique_ptr<MsiNetTask> make_task(const engine::Request& request) {
  const auto& config = request.config;
  TaskParts parts;
  parts.model = start_model(request, read_config(config));
  parts.recipe = engine::read_recipe(config, original_recipe());
  const auto& network = parts.model->settings();
  // A mistyped key is named before data are read; some keys are read with them.
  for (const auto& option : msinet_train_options()) config.expect(option.key);
  config.finish();
  const auto data = open_data(config, network.size, hardware_threads());
  const bool flip = config.get("flip", false);
  check(!data.train.empty(), ErrorKind::Input,
        "[msinet.train] no training data; got no pictures for training in the data set.");
  parts.training = std::make_unique<SaliencyDataset>(data.train, data, network.preprocessing, flip);
  if (!data.valid.empty()) {
    parts.validation =
        std::make_unique<SaliencyDataset>(data.valid, data, network.preprocessing, false);
  } else {
    parts.recipe.watch.clear();
  }
  if (!parts.recipe.watch.empty()) {
    settle_watch(config, parts.validation->has_fixations(), parts.recipe);
  }
  parts.results = config.get<std::string>("results", "");
  parts.dataset = dataset_label(config);
  parts.provenance = {{"data", parts.training->fingerprint()}, {"dataset", data.name}};
  log::info("{}: {} pictures for training, {} for validation", network.name(), data.train.size(),
            data.valid.size());
  return std::make_unique<MsiNetTask>(std::move(parts));
}

std::vector<engine::TrainStage> dataset_stages(const Config& config) {
  const auto names = config.get("dataset", std::vector<std::string>{});
  if (names.size() < 2) return {};
  std::vector<engine::TrainStage> stages;
  for (const auto& name : names) {
    const auto is_same = [&](const engine::TrainStage& stage) { return stage.name == name; };
    check(std::ranges::none_of(stages, is_same), ErrorKind::Usage,
          "[msinet.train] a data set comes twice in --dataset; got {}, expected each once.", name);
    check(std::filesystem::path(name).filename() == name, ErrorKind::Usage,
          "[msinet.train] --dataset takes names, --data the folder; got '{}', expected a name.",
          name);
    stages.push_back({name, {{"dataset", name}}});
  }
  return stages;
}

/// Writes the files of MSI-Net's own programs. Runs that share a results folder start from each
/// other's weights, so by default every run has its own.
void MsiNetTask::epoch_closed(const engine::EpochRecord& record,
                              const std::filesystem::path& folder) {
  const ResultsFolder results(parts_.results.empty() ? folder / "results" : parts_.results,
                              parts_.dataset, weight_device_name(parts_.model->backend()));
  std::optional<double> loss;
  for (const auto& [name, value] : record.scores) {
    if (name == "loss") loss = value;
  }
  const bool by_loss = parts_.recipe.watch == "loss";
  const bool best = record.best && (!by_loss || !loss || results.is_lowest(*loss));
  results.add_epoch(parts_.model->file(), record.train_loss, loss, best);
}

/// Scores of a batch of held-out maps, and pictures of the first few.
Json MsiNetTask::validate_batch(Predictor& predictor, std::int64_t number) const {
  const auto& set = *parts_.validation;
  const auto first = number * kValidationBatch;
  std::vector<std::int64_t> indices;
  for (auto i = first; i < std::min(set.size(), first + kValidationBatch); ++i) {
    indices.push_back(i);
  }
  const auto batch = set.load(indices, engine::SampleRandoms(Random(0)));
  const auto& images = batch.tensors.at("image");
  const auto& truths = batch.tensors.at("map");
  const auto maps = predictor.maps(images);  // (B, H, W)
  Json result = {{"scores", Json::array()}, {"pictures", Json::array()}};
  for (std::int64_t i = 0; i < batch.samples; ++i) {
    const auto points = set.has_fixations() ? set.points(first + i) : std::vector<MapPoint>();
    result["scores"].push_back(scores_of(maps[i], truths[i], points));
    if (first + i >= kPictures) continue;
    const auto picture = picture_of(images[i]);
    const auto png = io::png_bytes(side_by_side(draw_heatmap(picture, measured(maps[i]), {}),
                                                draw_heatmap(picture, measured(truths[i]), {})));
    result["pictures"].push_back({{"caption", set.sample(first + i).id + ": prediction, truth"},
                                  {"png", Json::binary({png.begin(), png.end()})}});
  }
  return result;
}

engine::Scores MsiNetTask::validate() {
  if (parts_.validation == nullptr) return {};
  Predictor predictor(parts_.model->msinet());
  pictures_.clear();
  ScoreSums sums;
  const auto batches = (parts_.validation->size() + kValidationBatch - 1) / kValidationBatch;
  for (const auto& result :
       engine::share_jobs(batches, [&](std::int64_t i) { return validate_batch(predictor, i); })) {
    for (const auto& scores : result["scores"]) sums.add(scores);
    for (const auto& picture : result["pictures"]) {
      const auto& png = picture["png"].get_binary();
      pictures_.push_back({picture["caption"], {png.begin(), png.end()}});
    }
  }
  return sums.means();
}

}  // namespace ubique::msinet
