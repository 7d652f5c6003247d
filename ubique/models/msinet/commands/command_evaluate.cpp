// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate msinet`: all metrics of a network's maps at the pictures' own sizes, in both
// definitions, beside the baselines.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/io/images/image.h"
#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/data/open_data.h"
#include "ubique/models/msinet/score/metric_colour.h"
#include "ubique/models/msinet/score/metric_report.h"
#include "ubique/models/msinet/use/open.h"
#include "ubique/models/msinet/use/predictor.h"

namespace ubique::msinet {
namespace {

using data::SaliencySample;

constexpr std::int64_t kBatch = 8;

ScoredImage scored_image(const SaliencySample& sample) {
  const auto size = io::image_size(sample.stimulus, io::ExifOrientation::Ignore);
  ScoredImage image{sample.id, size.width, size.height, {}, {}};
  auto looks = data::fixation_list_of(sample);
  image.points = std::move(looks.fixations);
  image.observers = std::move(looks.observers);
  return image;
}

std::vector<ScoredImage> scored_images(const std::vector<SaliencySample>& samples) {
  std::vector<ScoredImage> images;
  for (const auto& sample : samples) images.push_back(scored_image(sample));
  return images;
}

/// All ranks, each its share of batches: maps at the network's size; they are resized to the
/// pictures' sizes when they are scored.
std::vector<at::Tensor> predict_all(Predictor& predictor,
                                    const std::vector<SaliencySample>& samples,
                                    const engine::Request& request) {
  const auto count = std::ssize(samples);
  engine::RankProgress progress(
      {.title = "predict", .total = count, .unit = "pictures", .style = request.progress});
  const auto& size = predictor.config().size;
  const auto batches = engine::share_jobs((count + kBatch - 1) / kBatch, [&](std::int64_t number) {
    std::vector<at::Tensor> images;
    for (auto i = number * kBatch; i < std::min(count, (number + 1) * kBatch); ++i) {
      const auto picture = data::read_stimulus(samples[static_cast<std::size_t>(i)]);
      images.push_back(predictor.prepare(picture, hardware_threads()));
    }
    const auto maps = predictor.maps(at::stack(images)).to(at::kFloat).cpu().contiguous();
    progress.advance(maps.size(0));
    const auto* bytes = static_cast<const std::uint8_t*>(maps.const_data_ptr());
    return Json::binary({bytes, bytes + maps.nbytes()});
  });
  progress.finish();
  std::vector<at::Tensor> all;
  for (const auto& batch : batches) {
    const auto& bytes = batch.get_binary();
    auto maps = at::empty(
        {static_cast<std::int64_t>(bytes.size()) / (4 * size[0] * size[1]), size[0], size[1]},
        at::kFloat);  // (B, H, W)
    std::memcpy(maps.mutable_data_ptr(), bytes.data(), bytes.size());
    for (std::int64_t i = 0; i < maps.size(0); ++i) all.push_back(maps[i]);
  }
  return all;
}

struct Evaluation {
  std::vector<SaliencySample> samples;
  std::vector<ScoredImage> images;
  std::vector<at::Tensor> maps;
  CentreBias bias;
  data::FixationBlur blur;

  /// Does every picture have fixations of at least two known observers?
  bool has_observers() const {
    return std::ranges::all_of(images, [](const ScoredImage& image) {
      return std::ranges::any_of(image.observers,
                                 [&](int who) { return who != image.observers.front(); });
    });
  }
};

std::vector<ScoreRow> score_rows(const Evaluation& found, const Predictor& predictor,
                                 const ScoreOptions& options) {
  const SetScorer scorer(found.images, found.bias, options);
  const MapOf map = [&](std::size_t i) {
    const auto& image = found.images[i];
    return predictor.restore(found.maps[i], {image.height, image.width}).values;
  };
  const MapOf truth = [&](std::size_t i) {
    return data::read_target(found.samples[i], found.blur).values;
  };
  const MapOf colours = [&](std::size_t i) {
    const auto picture = data::read_stimulus(found.samples[i]);
    return colour_distance(picture, options.blur_share * std::max(picture.width, picture.height));
  };
  std::vector<ScoreRow> rows = {scorer.row("model", map, truth), scorer.centre_bias_row(truth),
                                scorer.row("colour distance", colours, truth),
                                scorer.other_images_row(truth), scorer.uniform_row(truth)};
  if (found.has_observers()) rows.push_back(scorer.other_observers_row());
  return rows;
}

void write_scores(const std::filesystem::path& folder, const std::string& definition,
                  const std::vector<ScoreRow>& rows, const ScoreOptions& options,
                  engine::Outcome& outcome) {
  const auto path = folder / ("scores_" + definition + ".csv");
  write_file(path, scores_csv(rows, usual_averaging(options.definition)));
  outcome.text += fmt::format("per picture: {}\n", path.string());
}

std::vector<Definition> read_definitions(const Config& config) {
  const auto text = config.get<std::string>("definition", "both");
  if (text == "both") return {Definition::Tuebingen, Definition::Mit};
  return {parse_definition(text)};
}

engine::Outcome evaluate_msinet(const engine::Request& request) {
  engine::Session session(request, plan::Mode::Run);
  const auto file = open_file(request, session);
  const auto definitions = read_definitions(request.config);
  const auto part = request.config.get<std::string>("part", "valid");
  check(part == "valid" || part == "train", ErrorKind::Usage,
        "[msinet.evaluate] unknown part; got '{}', expected valid or train.", part);
  const auto data = open_data(request.config, file.config.size, hardware_threads());
  start_run_session(session, request, file.config);
  const auto& samples = part == "train" ? data.train : data.valid;
  const auto bias = CentreBias::blurred(scored_images(data.train.empty() ? samples : data.train));
  Predictor predictor(file, session.plan(), session.torch_device());
  const Evaluation found{samples, scored_images(samples), predict_all(predictor, samples, request),
                         bias, data.blur};
  const bool writes = !request.output.empty() && dist::world().is_first();
  if (writes) make_folder(request.output);
  engine::Outcome outcome;
  outcome.json = json_document("evaluate", 1);
  outcome.json["model"] = request.model;
  outcome.json["device"] = session.facts().label();
  for (const auto definition : definitions) {
    ScoreOptions options;
    options.definition = definition;
    options.threads = hardware_threads();
    const auto rows = score_rows(found, predictor, options);
    const std::string name(to_string(definition));
    outcome.text += fmt::format("{}:\n{}\n", name, score_table(rows, usual_averaging(definition)));
    outcome.json[name] = scores_json(rows, options);
    if (writes) write_scores(request.output, name, rows, options, outcome);
  }
  if (writes) {
    write_file(request.output / "scores.json", json_text(outcome.json, 2) + "\n");
  }
  return outcome;
}

}  // namespace

engine::Command evaluate_command() {
  auto options = saliency_data_options();
  options.push_back({"--definition", "definition", "NAME", "mit, tuebingen or both (default)"});
  options.push_back({"--part", "part", "NAME", "valid (default) or train"});
  return {.verb = "evaluate",
          .summary = "AUC, sAUC, NSS, CC, KLD, SIM and IG, beside what any network should beat",
          .needs_model = true,
          .options = std::move(options),
          .examples = {{"ubique evaluate msinet --model runs/scenes/checkpoints/best -d scenes",
                        "both definitions"},
                       {"ubique evaluate msinet --model net.h5 -d mit1003 -o scores",
                        "with scores.json and a CSV of every picture"},
                       {"ubique evaluate msinet --model results --dataset mit1003 -d data "
                        "--definition mit --blur fourier",
                        "the best weights of a data set, maps blurred as at MIT"}},
          .run = evaluate_msinet};
}

}  // namespace ubique::msinet
