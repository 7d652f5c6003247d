// SPDX-License-Identifier: Apache-2.0
// Reads the settings, opens or makes the network, and validates on music of held-out combinations.
#include "ubique/models/acestep/train/codec_task.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/audio/pictures.h"
#include "ubique/data/music/analysis.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/models/acestep/files/weights.h"
#include "ubique/models/acestep/train/codec_data.h"
#include "ubique/models/acestep/train/codec_model.h"
#include "ubique/models/acestep/use/sound/decode.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kWholePiece = 256;  // frames: three seconds
constexpr std::uint64_t kHeldOutSeed = 0x68656c64;

engine::Recipe codec_recipe() {
  engine::Recipe recipe;
  recipe.epochs = 20;
  recipe.optimizer.lr = 2e-3;
  recipe.optimizer.beta1 = 0.8;
  recipe.optimizer.beta2 = 0.99;
  recipe.schedule.name = "cosine";
  recipe.schedule.warmup = 0.03;
  recipe.clip_norm = 1;
  recipe.watch = "mel";
  recipe.watch_higher = false;
  return recipe;
}

struct CodecSettings {
  CodecDataOptions data;
  DcaeLossOptions dcae;
  SoundLossOptions sound;
  engine::Recipe recipe;
  std::int64_t validation = 16;
  std::string model;
};

void check_weight(const char* key, double value) {
  check(value >= 0 && value <= 1000, ErrorKind::Usage,
        "[acestep.train] {} is out of range; got {}, expected 0 to 1000.", key, value);
}

CodecSettings read_codec_settings(const engine::Request& request, Part part) {
  const auto& config = request.config;
  CodecSettings settings;
  settings.recipe = engine::read_recipe(config, codec_recipe());
  settings.model = request.model;
  auto& data = settings.data;
  data.stereo = part == Part::Dcae;
  data.size = config.get("epoch_samples", data.size);
  data.frames = config.get("crop_frames", static_cast<std::int64_t>(data.stereo ? 64 : 32));
  data.seed = settings.recipe.seed;
  data.noise = config.get("mel_noise", data.stereo ? 0.0 : 0.1);
  data.organ = config.get("organ_share", data.organ);
  check(data.organ >= 0 && data.organ <= 1, ErrorKind::Usage,
        "[acestep.train] organ_share is out of range; got {}, expected 0 to 1.", data.organ);
  settings.validation = config.get("val_pieces", settings.validation);
  check(settings.validation >= 1 && settings.validation <= 10'000, ErrorKind::Usage,
        "[acestep.train] val_pieces is out of range; got {}, expected 1 to 10000.",
        settings.validation);
  settings.dcae.multiscale = config.get("multiscale_weight", settings.dcae.multiscale);
  settings.dcae.sides = config.get("sides_weight", settings.dcae.sides);
  settings.dcae.moments = config.get("moments_weight", settings.dcae.moments);
  settings.dcae.noise = config.get("latent_noise", settings.dcae.noise);
  settings.sound.wave = config.get("wave_weight", settings.sound.wave);
  settings.sound.emphasis = config.get("wave_emphasis", settings.sound.emphasis);
  settings.sound.stft = config.get("stft_weight", settings.sound.stft);
  settings.sound.mel = config.get("mel_weight", settings.sound.mel);
  for (const auto& [key, value] : {std::pair("multiscale_weight", settings.dcae.multiscale),
                                   {"sides_weight", settings.dcae.sides},
                                   {"moments_weight", settings.dcae.moments},
                                   {"latent_noise", settings.dcae.noise},
                                   {"mel_noise", data.noise},
                                   {"wave_weight", settings.sound.wave},
                                   {"stft_weight", settings.sound.stft},
                                   {"mel_weight", settings.sound.mel}}) {
    check_weight(key, value);
  }
  check(settings.sound.emphasis >= 0 && settings.sound.emphasis < 1, ErrorKind::Usage,
        "[acestep.train] wave_emphasis is out of range; got {}, expected 0 to below 1.",
        settings.sound.emphasis);
  return settings;
}

/// A network from a model folder, from a run of the same part, or a fresh one.
template <typename Model, typename Net, typename Config>
std::unique_ptr<Model> open_codec(const std::string& path, Part part, const Config& fresh,
                                  const Config NetworkConfigs::*member) {
  if (path.empty()) return std::make_unique<Model>(std::make_shared<Net>(fresh));
  if (looks_like_model_folder(path)) {
    const auto folder = read_model_folder(path);
    auto network = std::make_shared<Net>(folder.networks.*member);
    read_weights(*network, folder.weights(part), names_of(unused_shapes(folder.networks, part)));
    auto model = std::make_unique<Model>(std::move(network));
    model->set_origin(path);
    model->set_initialized();
    return model;
  }
  auto opened = engine::open_model(path, "acestep");
  check(dynamic_cast<Model*>(opened.get()) != nullptr, ErrorKind::Input,
        "[acestep.train] {} is not a {}; expected a run of --part {} or a whole model's folder.",
        path, to_string(part), part == Part::Dcae ? kDcaePart : kVocoderPart);
  return std::unique_ptr<Model>(dynamic_cast<Model*>(opened.release()));
}

/// What both parts' tasks share.
class CodecTask : public engine::Task {
 public:
  explicit CodecTask(const CodecSettings& settings)
      : settings_(settings), training_(settings.data), held_out_(held_out(settings)) {}

  const engine::Dataset& training_set() override { return training_; }
  const engine::Recipe& recipe() const override { return settings_.recipe; }
  Json provenance() const override { return {{"data", "synthetic music"}}; }

 protected:
  /// Whole pieces that are never trained on, always the same.
  static CodecDataset held_out(const CodecSettings& settings) {
    auto options = settings.data;
    options.size = settings.validation;
    options.frames = kWholePiece;
    options.noise = options.level = options.organ = 0;
    options.seed = kHeldOutSeed;
    options.split = data::MusicSplit::HeldOut;
    options.fixed = true;
    return CodecDataset(options);
  }

  engine::Batch piece(std::int64_t index) const {
    return held_out_.load({index}, engine::SampleRandoms(Random(0)));
  }

  CodecSettings settings_;
  CodecDataset training_, held_out_;
};

io::Picture spectrogram_picture(const at::Tensor& log_mel) {
  const auto host = log_mel.to(at::kCPU, at::kFloat).contiguous();  // (128, F)
  data::Spectrogram picture{.rows = host.size(0), .frames = host.size(1)};
  picture.values.assign(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel());
  return data::draw_spectrogram(picture, 512, 256);
}

class DcaeTask final : public CodecTask {
 public:
  DcaeTask(const CodecSettings& settings, std::unique_ptr<DcaeModel> model)
      : CodecTask(settings), model_(std::move(model)) {
    model_->set_loss(settings.dcae);
    model_->set_crop(settings.data.frames);
  }
  engine::Model& model() override { return *model_; }

  engine::Scores validate() override {
    const auto sums = engine::share_sums(held_out_.size(), 4, [&](std::int64_t i) {
      const auto [wanted, latents, made] = there_and_back(i);
      return std::vector<double>{(made - wanted).abs().mean().item<double>(),
                                 ((made - wanted) / 7).square().mean().item<double>(),
                                 latents.mean().item<double>(),
                                 latents.square().mean().item<double>()};
    });
    const auto count = static_cast<double>(held_out_.size());
    return {{"mel", sums[0] / count},
            {"squared", sums[1] / count},
            {"latent_mean", sums[2] / count},
            {"latent_power", sums[3] / count}};
  }

  std::vector<engine::ReportPicture> pictures() override {
    const auto [wanted, latents, made] = there_and_back(0);
    return {{"a piece never trained on, left channel",
             io::png_bytes(spectrogram_picture(wanted[0][0]))},
            {"the same through the autoencoder", io::png_bytes(spectrogram_picture(made[0][0]))}};
  }

 private:
  struct Trip {
    at::Tensor wanted, latents, made;
  };
  Trip there_and_back(std::int64_t index) const {
    const auto& dcae = model_->dcae();
    const auto device = dcae.weights().encoder.input.weight.device();
    const auto wanted = piece(index).tensors.at("log_mel").to(device);
    const auto latents = latents_of(dcae, wanted);
    return {wanted, latents, log_mel_of(dcae, latents).to(at::kFloat)};
  }

  std::unique_ptr<DcaeModel> model_;
};

class VocoderTask final : public CodecTask {
 public:
  VocoderTask(const CodecSettings& settings, std::unique_ptr<VocoderModel> model)
      : CodecTask(settings), model_(std::move(model)) {
    model_->set_loss(settings.sound);
    model_->set_crop(settings.data.frames);
  }
  engine::Model& model() override { return *model_; }

  /// Distances, and whether chord and timbre are still heard in the sound that comes out.
  engine::Scores validate() override {
    const auto sums =
        engine::share_sums(held_out_.size(), 4, [&](std::int64_t i) { return compare(i); });
    const auto count = static_cast<double>(held_out_.size());
    return {{"mel", sums[0] / count},
            {"stft", sums[1] / count},
            {"chord_kept", sums[2] / count},
            {"timbre_kept", sums[3] / count}};
  }

 private:
  /// The four scores of one piece.
  std::vector<double> compare(std::int64_t index) const {
    const auto& distance = model_->distance();
    const auto batch = piece(index);
    const auto& vocoder = model_->vocoder();
    const auto device = vocoder.weights().input.weight.device();
    const auto wanted = batch.tensors.at("sound").to(device);
    const auto made =
        vocoder.forward(batch.tensors.at("log_mel").to(device)).squeeze(1).to(at::kFloat);
    constexpr double kLeast = 1e-3;
    const auto mel = (distance.log_mel(made, kLeast) - distance.log_mel(wanted, kLeast))
                         .abs()
                         .mean()
                         .item<double>();
    const auto before = data::hear_music(audio_of(wanted)),
               after = data::hear_music(audio_of(made));
    const bool chord = before.root == after.root && before.mode == after.mode;
    return {mel, distance.stft_distance(made, wanted).item<double>(), chord ? 1.0 : 0.0,
            before.timbre == after.timbre ? 1.0 : 0.0};
  }

  static io::Audio audio_of(const at::Tensor& sound) {
    const auto host = sound.detach().to(at::kCPU).contiguous();
    io::Audio audio{.rate = data::kMusicRate, .channels = 1};
    audio.samples.assign(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel());
    return audio;
  }

  std::unique_ptr<VocoderModel> model_;
};

}  // namespace

Part read_part(const Config& config) {
  const auto name = config.get<std::string>("part", "transformer");
  if (name == "transformer") return Part::Transformer;
  if (name == kDcaePart) return Part::Dcae;
  check(name == kVocoderPart, ErrorKind::Usage,
        "[acestep.train] unknown part; got '{}', expected transformer, dcae or vocoder.",
        printable(name, 40));
  return Part::Vocoder;
}

std::unique_ptr<engine::Task> make_codec_task(const engine::Request& request, Part part) {
  const auto settings = read_codec_settings(request, part);
  const auto fresh = read_networks(request.config);
  request.config.finish();
  if (part == Part::Dcae) {
    return std::make_unique<DcaeTask>(
        settings, open_codec<DcaeModel, Dcae, DcaeConfig>(settings.model, part, fresh.dcae,
                                                          &NetworkConfigs::dcae));
  }
  return std::make_unique<VocoderTask>(
      settings, open_codec<VocoderModel, Vocoder, VocoderConfig>(
                    settings.model, part, fresh.vocoder, &NetworkConfigs::vocoder));
}

std::vector<engine::Option> codec_train_options() {
  return engine::in_group(
      "Codec",
      {{"--part", "part", "NAME", "what is trained: transformer, dcae or vocoder (transformer)"},
       {"--epoch-samples", "epoch_samples", "N", "crops of synthetic music in an epoch (1024)"},
       {"--crop-frames", "crop_frames", "N", "spectrogram frames of a crop (dcae 64, vocoder 32)"},
       {"--val-pieces", "val_pieces", "N", "held-out pieces of a validation (16)"},
       {"--organ-share", "organ_share", "X",
        "share of crops played by the organ, which no held-out piece has (0)"},
       {"--multiscale-weight", "multiscale_weight", "X",
        "dcae: weight of differences at coarser scales (0.5)"},
       {"--sides-weight", "sides_weight", "X",
        "dcae: weight of the difference between left and right (1)"},
       {"--moments-weight", "moments_weight", "X",
        "dcae: weight of the latents' distance from mean 0 and deviation 1 (0.05)"},
       {"--latent-noise", "latent_noise", "X", "dcae: noise on latents in training (0.1)"},
       {"--mel-noise", "mel_noise", "X", "vocoder: noise on spectrograms in training (0.1)"},
       {"--wave-weight", "wave_weight", "X", "vocoder: weight of the wave's own error (0)"},
       {"--wave-emphasis", "wave_emphasis", "X",
        "vocoder: how much more high partials count in the wave's error, 0 to below 1 (0)"},
       {"--stft-weight", "stft_weight", "X", "vocoder: weight of spectra (1)"},
       {"--mel-weight", "mel_weight", "X", "vocoder: weight of mel spectrograms (0.5)"}});
}

engine::Examples codec_train_examples() {
  return {{"ubique train acestep --part dcae -o runs/dcae", "an autoencoder of synthetic music"},
          {"ubique train acestep --part vocoder --wave-weight 1 -o runs/vocoder",
           "a vocoder, its waves compared too"}};
}

}  // namespace ubique::acestep
