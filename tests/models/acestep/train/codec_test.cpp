// SPDX-License-Identifier: Apache-2.0
// Training of the autoencoder and the vocoder: losses by their definition, gradients for every
// parameter, data that is the same wherever a crop is cut.
#include "ubique/models/acestep/train/codec_model.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/data/audio/mel.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/models/acestep/train/codec_data.h"
#include "ubique/models/acestep/train/codec_loss.h"
#include "ubique/models/acestep/use/sound/decode.h"

using namespace ubique;
using acestep::CodecDataset;

namespace {

engine::Batch batch_of(const acestep::CodecDataOptions& options, std::int64_t count) {
  const CodecDataset dataset(options);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(i);
  return dataset.load(indices, engine::SampleRandoms(Random(1)));
}

template <typename Model>
void check_gradients(Model& model, const engine::Batch& batch) {
  const auto step = model.step(batch);
  step.loss.backward();
  for (const auto& item : model.network().named_parameters()) {
    CAPTURE(item.key());
    REQUIRE(item.value().grad().defined());
    CHECK(item.value().grad().isfinite().all().template item<bool>());
  }
}

/// Some steps of plain gradient descent; the loss before and after.
template <typename Model>
std::pair<double, double> descend(Model& model, const engine::Batch& batch, double rate) {
  double first = 0, last = 0;
  for (int i = 0; i < 12; ++i) {
    model.network().zero_grad();
    const auto step = model.step(batch);
    step.loss.backward();
    last = step.loss.template item<double>();
    if (i == 0) first = last;
    const at::NoGradGuard no_gradients;
    double squares = 0;
    for (auto& parameter : model.network().parameters()) {
      squares += parameter.grad().square().sum().template item<double>();
    }
    for (auto& parameter : model.network().parameters()) {
      parameter.sub_(parameter.grad() * (rate / std::sqrt(squares)));
    }
  }
  return {first, last};
}

std::shared_ptr<acestep::Dcae> fresh_dcae() {
  return std::make_shared<acestep::Dcae>(acestep::tiny_networks().dcae);
}
std::shared_ptr<acestep::Vocoder> fresh_vocoder() {
  return std::make_shared<acestep::Vocoder>(acestep::tiny_networks().vocoder);
}

}  // namespace

TEST_CASE("codec training: a crop's spectrogram is that of the whole piece") {
  const auto crop = batch_of({.frames = 32, .stereo = false, .level = 0}, 6);
  const auto& log_mel = crop.tensors.at("log_mel");
  const auto& sound = crop.tensors.at("sound");
  REQUIRE(log_mel.sizes() == at::IntArrayRef({6, 128, 32}));
  REQUIRE(sound.sizes() == at::IntArrayRef({6, 32 * 512}));
  // Away from the crop's ends its own spectrogram must agree; at the ends it is mirrored.
  data::MelSpectrogram transform;
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto row = sound[i].contiguous();
    const auto own = transform.log_mel({row.const_data_ptr<float>(), 32 * 512});
    const auto values = at::tensor(own.values).reshape({128, 32});
    const auto inside = (values - log_mel[i]).slice(1, 2, 30).abs().max().item<double>();
    CHECK(inside < 2e-3);
  }
}

TEST_CASE("codec training: samples depend on their random stream alone, held-out ones on nothing") {
  const auto a = batch_of({.frames = 32}, 3), b = batch_of({.frames = 32}, 3);
  CHECK(at::equal(a.tensors.at("log_mel"), b.tensors.at("log_mel")));
  CHECK(at::equal(a.tensors.at("noise"), b.tensors.at("noise")));
  const CodecDataset fixed(
      {.frames = 32, .seed = 3, .split = data::MusicSplit::HeldOut, .fixed = true});
  const auto first = fixed.load({5}, engine::SampleRandoms(Random(1)));
  const auto again = fixed.load({4, 5}, engine::SampleRandoms(Random(2)));
  CHECK(at::equal(first.tensors.at("log_mel")[0], again.tensors.at("log_mel")[1]));
}

TEST_CASE(
    "codec training: a share of the crops can be the organ's, and the others stay as they are") {
  constexpr std::int64_t kCrops = 24;
  const auto without = batch_of({.frames = 16}, kCrops).tensors.at("log_mel");
  const auto half = batch_of({.frames = 16, .organ = 0.5}, kCrops).tensors.at("log_mel");
  std::int64_t same = 0;
  for (std::int64_t i = 0; i < kCrops; ++i) same += at::equal(without[i], half[i]) ? 1 : 0;
  CHECK(same > kCrops / 4);
  CHECK(same < 3 * kCrops / 4);
}

TEST_CASE("codec training: crops that the autoencoder cannot halve are refused") {
  for (const std::int64_t frames : {0, 8, 20, 264}) {
    CHECK_THROWS_AS(CodecDataset({.frames = frames}), Error);
  }
}

TEST_CASE("codec training: the loss of an exact copy is 0, and rises with the error") {
  const auto wave = batch_of({.frames = 32, .stereo = false}, 2).tensors.at("sound");
  const acestep::SoundDistance distance;
  const acestep::SoundLossOptions all{.wave = 1, .stft = 1, .mel = 1};
  CHECK(distance(wave, wave, all).total.item<double>() == doctest::Approx(0).epsilon(1e-6));
  const auto near = distance(wave * 1.05, wave, all).total.item<double>();
  const auto far = distance(wave * 1.5, wave, all).total.item<double>();
  CHECK(near > 0.01);
  CHECK(far > 2 * near);
  // The wave's error of silence is its energy, of a sound that is not very quiet nearly all of it.
  const auto silence = distance(at::zeros_like(wave), wave, all).wave.item<double>();
  CHECK(silence < 1);
  CHECK(silence > 0.5);
  const auto quiet = wave * 1e-3;
  CHECK(distance(at::zeros_like(quiet), quiet, all).wave.item<double>() < 1e-3);
}

TEST_CASE("codec training: emphasis makes a wrong third partial count as much as a wrong tone") {
  constexpr std::int64_t kSamples = 44'100;
  const auto tone = [](double hertz, double amplitude) {
    const auto turns = at::arange(kSamples, at::kFloat) * (hertz / kSamples);
    return (amplitude * at::sin(2 * M_PI * turns)).unsqueeze(0);
  };
  const auto saw = tone(3000, 0.3) + tone(6000, 0.15) + tone(9000, 0.1);
  const auto share_without_third = [&](double emphasis) {
    const auto without = tone(3000, 0.3) + tone(6000, 0.15);
    return acestep::SoundDistance::wave_distance(without, saw, emphasis).item<double>();
  };
  // Of the energies 9, 2.25 and 1 the filter leaves about 1.6, 1.4 and 1.3.
  CHECK(share_without_third(0) < 0.09);
  CHECK(share_without_third(0.95) > 0.25);
  CHECK(acestep::SoundDistance::wave_distance(saw, saw, 0.95).item<double>() == 0);
}

TEST_CASE("codec training: log-mel values are those of the vocoder's input") {
  const auto batch = batch_of({.frames = 32, .stereo = false, .level = 0}, 2);
  const acestep::SoundDistance distance;
  const auto made = distance.log_mel(batch.tensors.at("sound"), 1e-5);
  const auto error = (made - batch.tensors.at("log_mel")).slice(2, 2, 30).abs().max();
  CHECK(error.item<double>() < 2e-2);
}

TEST_CASE("codec training: what left and right differ by counts by itself") {
  const auto network = fresh_dcae();
  acestep::DcaeModel(network).initialize(Random(1));
  const auto batch = batch_of({.frames = 16}, 6);
  const auto &log_mel = batch.tensors.at("log_mel"), &noise = batch.tensors.at("noise");
  const auto loss_of = [&](const at::Tensor& wanted, double weight) {
    return acestep::dcae_loss(*network, wanted, noise, {.sides = weight});
  };
  const auto none = loss_of(log_mel, 0), twice = loss_of(log_mel, 2);
  const auto sides = none.sides.item<double>();
  CHECK(sides > 0);
  CHECK(twice.total.item<double>() - none.total.item<double>() == doctest::Approx(2 * sides));
  // Where both channels are the same, their difference is only what the network makes of them.
  const auto mono = log_mel.slice(1, 0, 1).expand_as(log_mel).contiguous();
  const auto same = loss_of(mono, 1);
  const auto made = acestep::log_mel_of(
      *network, acestep::latents_of(*network, mono) + acestep::DcaeLossOptions{}.noise * noise);
  const auto difference = (made.slice(1, 0, 1) - made.slice(1, 1, 2)) / 7;
  const auto expected = acestep::multiscale_distance(difference, at::zeros_like(difference));
  CHECK(same.sides.item<double>() == doctest::Approx(expected.item<double>()).epsilon(1e-4));
}

TEST_CASE("codec training: every parameter of the autoencoder has a gradient and learns") {
  acestep::DcaeModel model(fresh_dcae());
  model.initialize(Random(1));
  const auto batch = batch_of({.frames = 16}, 2);
  check_gradients(model, batch);
  const auto [first, last] = descend(model, batch, 0.1);
  CHECK(last < 0.9 * first);
}

TEST_CASE("codec training: every parameter of the vocoder has a gradient and learns") {
  acestep::VocoderModel model(fresh_vocoder());
  model.set_loss({.wave = 1});
  model.initialize(Random(1));
  const auto batch = batch_of({.frames = 16, .stereo = false}, 2);
  check_gradients(model, batch);
  const auto [first, last] = descend(model, batch, 0.05);
  CHECK(last < 0.95 * first);
}

TEST_CASE("codec training: a checkpoint's configuration makes the same network again") {
  acestep::DcaeModel dcae(fresh_dcae());
  acestep::VocoderModel vocoder(fresh_vocoder());
  for (engine::Model* model :
       {static_cast<engine::Model*>(&dcae), static_cast<engine::Model*>(&vocoder)}) {
    REQUIRE(acestep::is_codec_config(model->config()));
    const auto weights = engine::state_dict(model->network());
    const auto again = acestep::build_codec(model->config(), weights);
    CHECK(again->config() == model->config());
    auto fewer = weights;
    fewer.pop_back();
    CHECK_THROWS_AS(acestep::build_codec(model->config(), fewer), Error);
  }
  CHECK_FALSE(acestep::is_codec_config({{"part", "transformer"}}));
  CHECK_FALSE(acestep::is_codec_config(Json::object()));
}
