// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/msinet/task.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/log.h"
#include "ubique/models/msinet/commands.h"
#include "ubique/models/msinet/heatmap.h"
#include "ubique/models/msinet/loss.h"
#include "ubique/models/msinet/metric_pairs.h"
#include "ubique/models/msinet/predictor.h"

namespace ubique::msinet {
namespace {

constexpr std::int64_t kPictures = 2, kValidationBatch = 8;

std::unique_ptr<MsiNetModel> start_model(const engine::Request& request,
                                         const MsiNetConfig& asked) {
  if (request.model.empty()) return std::make_unique<MsiNetModel>(asked);
  auto file = open_file(request.model);
  file.config.size = asked.size;
  file.config.dataset = asked.dataset;
  const auto seed = static_cast<std::uint64_t>(request.config.get<std::int64_t>("seed", 42));
  auto model = std::make_unique<MsiNetModel>(file, Random(seed));
  model->set_initialized();
  return model;
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

/// Side by side.
io::Picture beside(const io::Picture& left, const io::Picture& right) {
  io::Picture both{left.width + right.width, left.height, 3, {}};
  const auto row = static_cast<std::ptrdiff_t>(left.width) * 3;
  for (int y = 0; y < left.height; ++y) {
    for (const auto* picture : {&left, &right}) {
      const auto from = picture->pixels.begin() + y * row;
      both.pixels.insert(both.pixels.end(), from, from + row);
    }
  }
  return both;
}

/// Sums of what a batch's maps are worth.
struct Worth {
  double loss = 0, kld = 0, cc = 0, sim = 0;
  std::int64_t maps = 0;

  void add(const at::Tensor& map, const at::Tensor& truth) {
    const auto got = measured(map), wanted = measured(truth);
    loss += kld_loss(map.unsqueeze(0).unsqueeze(0), truth.unsqueeze(0)).item<double>();
    kld += msinet::kld(got, wanted);
    cc += msinet::cc(got, wanted);
    sim += msinet::sim(got, wanted, Definition::Tuebingen);
    ++maps;
  }

  engine::Scores means() const {
    const auto count = static_cast<double>(std::max<std::int64_t>(maps, 1));
    return {{"loss", loss / count}, {"kld", kld / count}, {"cc", cc / count}, {"sim", sim / count}};
  }
};

}  // namespace

engine::Recipe original_recipe() {
  engine::Recipe recipe;
  recipe.epochs = 10;
  recipe.optimizer.name = "adamw";  // without weight decay: Adam
  recipe.optimizer.lr = 1e-5;
  recipe.watch = "loss";
  recipe.watch_higher = false;
  return recipe;
}

std::vector<engine::Option> msinet_train_options() {
  auto options = saliency_data_options();
  const std::vector<engine::Option> own = {
      {"--preset", "preset", "NAME", "msinet or msinet-small"},
      {"--width", "width", "FACTOR", "all layers narrower or wider (1)"},
      {"--size", "size", "H,W", "height and width that pictures are brought to"},
      {"--upsample", "upsample", "NAME", "legacy (the original's) or half_pixel"},
      {"--preprocess", "preprocess", "NAME", "msinet, torchvision or caffe: the means"},
      {"--flip,!--no-flip", "flip", "", "half of the pictures mirrored (off, as the original)"},
  };
  options.insert(options.end(), own.begin(), own.end());
  return options;
}

std::unique_ptr<MsiNetTask> make_task(const engine::Request& request) {
  const auto& config = request.config;
  TaskParts parts;
  parts.model = start_model(request, read_config(config));
  parts.recipe = engine::read_recipe(config, original_recipe());
  const auto& network = parts.model->settings();
  const auto data = open_data(config, network.size, host_threads());
  const bool flip = config.get("flip", false);
  check(!data.train.empty(), ErrorKind::Input,
        "[msinet.train] nothing to learn from; got no pictures to train with in the data.");
  parts.training = std::make_unique<SaliencyDataset>(data.train, data, network.preprocessing, flip);
  if (!data.valid.empty()) {
    parts.validation =
        std::make_unique<SaliencyDataset>(data.valid, data, network.preprocessing, false);
  } else {
    parts.recipe.watch.clear();
  }
  parts.story = {{"data", parts.training->fingerprint()}, {"dataset", data.name}};
  log::info("{}: {} pictures to learn from, {} to validate with", network.name(), data.train.size(),
            data.valid.size());
  return std::make_unique<MsiNetTask>(std::move(parts));
}

engine::Scores MsiNetTask::validate() {
  if (parts_.validation == nullptr) return {};
  Predictor predictor(parts_.model->msinet());
  pictures_.clear();
  Worth worth;
  const auto count = parts_.validation->size();
  for (std::int64_t first = 0; first < count; first += kValidationBatch) {
    std::vector<std::int64_t> indices;
    for (auto i = first; i < std::min(count, first + kValidationBatch); ++i) indices.push_back(i);
    const auto batch = parts_.validation->load(indices, Random(0));
    const auto& images = batch.tensors.at("image");
    const auto& truths = batch.tensors.at("map");
    const auto maps = predictor.maps(images);  // (B, H, W)
    for (std::int64_t i = 0; i < batch.samples; ++i) {
      worth.add(maps[i], truths[i]);
      if (first + i >= kPictures) continue;
      const auto picture = picture_of(images[i]);
      pictures_.push_back({parts_.validation->sample(first + i).id + ": prediction, truth",
                           io::png_bytes(beside(draw_heatmap(picture, measured(maps[i]), {}),
                                                draw_heatmap(picture, measured(truths[i]), {})))});
    }
  }
  return worth.means();
}

}  // namespace ubique::msinet
