// SPDX-License-Identifier: Apache-2.0
// The whole chain against the original's: a folder with the golden networks, the original's noise,
// latents and sound of every task.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>

#include "tests/models/acestep/golden.h"
#include "tests/models/acestep/small_model.h"
#include "ubique/base/error.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/files/vocabularies.h"
#include "ubique/models/acestep/net/config/config_json.h"
#include "ubique/models/acestep/use/make_song.h"
#include "ubique/models/acestep/use/song_json.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden;

namespace fs = std::filesystem;

namespace {

/// The golden networks as a model folder.
class GoldenModel {
 public:
  GoldenModel(const fs::path& golden, bool deep) {
    const auto pipeline = golden / "pipeline";
    add<acestep::Umt5>(
        acestep::Part::TextEncoder, acestep::parse_umt5_config,
        deep ? pipeline / "erg_umt5_config.json" : golden / "umt5" / "config.json",
        deep ? pipeline / "erg_umt5_weights_spec.json" : golden / "umt5" / "weights_spec.json");
    add<acestep::Dit>(
        acestep::Part::Transformer, acestep::parse_dit_config,
        deep ? pipeline / "erg_dit_config.json" : golden / "dit" / "config.json",
        deep ? pipeline / "erg_dit_weights_spec.json" : golden / "dit" / "weights_spec.json");
    copy(acestep::Part::Dcae, golden / "dcae");
    copy(acestep::Part::Vocoder, golden / "vocoder");
    write_file(path() / folder_name(acestep::Part::TextEncoder) / "tokenizer.json",
               json_text(acestep::text_vocabulary()));
  }

  fs::path path() const { return scratch_.path(); }

 private:
  template <typename Net, typename Parse>
  void add(acestep::Part part, const Parse& parse, const fs::path& config, const fs::path& spec) {
    Net network(parse(test::read_json(config), config.string()));
    const at::NoGradGuard no_gradients;
    auto parameters = network.named_parameters();
    const auto json = test::read_json(spec);
    for (const auto& entry : json.at("tensors")) {
      auto* parameter = parameters.find(entry.at("name").get<std::string>());
      if (parameter != nullptr) parameter->copy_(test::spec_tensor(entry));
    }
    acestep::write_part(network, acestep::config_json(network.config()), part,
                        path() / folder_name(part), at::kFloat);
  }

  void copy(acestep::Part part, const fs::path& from) {
    const auto folder = path() / folder_name(part);
    fs::create_directories(folder);
    fs::copy_file(from / "config.json", folder / "config.json");
    fs::copy_file(from / weights_name(part), folder / weights_name(part));
  }

  test::ScratchFolder scratch_;
};

/// The request of a golden run, as the original would have written it into its own JSON.
acestep::SongRequest golden_request(const Json& args) {
  auto json = args;
  for (const auto* key : {"manual_seeds", "batch_size"}) json.erase(key);
  const bool sourced = json.contains("src_audio_path");
  auto request = acestep::parse_song_json(json, "golden");
  request.variations = args.value("batch_size", std::int64_t{1});
  request.compatibility = {.batch_mean = true, .near_shift = true};
  if (sourced && request.task == acestep::SongTask::Extend) {
    // The original counts the right part behind the clip with its new left part.
    constexpr double kFrame = 4096.0 / 44100;
    const auto clip = 9, left = static_cast<int>(acestep::frames_of(request.left));
    const auto end = acestep::frames_of(args.at("repaint_end").get<double>());
    request.right = kFrame * (std::max<double>(0, static_cast<double>(end - clip - left)) + 0.01);
  }
  return request;
}

std::vector<std::int64_t> ids_of(const Golden& golden, const std::string& name) {
  if (!golden.has(name)) return {};
  const auto ids = golden.at(name).cpu().flatten().contiguous();
  const auto* values = ids.const_data_ptr<std::int64_t>();
  return {values, values + ids.numel()};
}

acestep::SongInputs golden_inputs(const fs::path& folder, const Json& args, const Golden& golden) {
  acestep::SongInputs inputs{.request = golden_request(args)};
  inputs.prompt = {ids_of(golden, "text.input_ids"), ids_of(golden, "lyric.ids")};
  inputs.target = {ids_of(golden, "target_text.input_ids"), ids_of(golden, "target_lyric.ids")};
  if (!needs_source(inputs.request.task)) return inputs;
  const Golden clip(folder / "pipeline" / "src_audio.safetensors");
  const auto wave = clip.at("wave48k").cpu().contiguous();
  io::Audio audio{.rate = 48'000, .channels = 2};
  audio.samples.assign(wave.const_data_ptr<float>(), wave.const_data_ptr<float>() + wave.numel());
  inputs.source = acestep::prepared_source(audio);
  return inputs;
}

acestep::NoiseSource golden_noise(const Golden& golden) {
  auto drawn = std::make_shared<int>(0);
  return [&golden, drawn](const acestep::NoiseRequest& asked) -> at::Tensor {
    switch (asked.use) {
      case acestep::NoiseUse::Start:
        return golden.at("noise.0");
      case acestep::NoiseUse::Retake:
        return golden.at("noise.1");
      case acestep::NoiseUse::Step:
        return golden.at(fmt::format("pingpong_noise.{}", asked.number));
      case acestep::NoiseUse::Edit:
        break;
    }
    return golden.at(fmt::format("noise.{}", (*drawn)++));
  };
}

void check_golden_song(const fs::path& folder, const std::string& name) {
  CAPTURE(name);
  const GoldenModel model(folder, name.starts_with("erg"));
  const auto args = test::read_json(folder / "pipeline" / (name + ".json"));
  const Golden golden(folder / "pipeline" / (name + ".safetensors"));
  const auto place = acestep::find_model(model.path());
  auto parts = acestep::open_parts(place, test::kDevice, at::kFloat);
  const auto inputs = golden_inputs(folder, args.at("args"), golden);
  std::int64_t made = 0;
  acestep::SongHooks hooks;
  hooks.noise = golden_noise(golden);
  hooks.finished = [&](const acestep::MadeSong& song) {
    ++made;
    const auto i = song.variation;
    CHECK(distance(song.latents, golden.at("final_latents")[i]) < 2e-4);
    CHECK(song.audio.frames() == args.at("wave_samples").at(static_cast<std::size_t>(i)));
    auto samples = song.audio.samples;
    const auto wave = at::from_blob(samples.data(), {2, song.audio.frames()}, at::kFloat);
    const auto whole = fmt::format("wave48k.{}", i);
    if (golden.has(whole)) {
      CHECK(distance(wave, golden.at(whole)) < 3e-4);
    } else {
      CHECK(distance(wave.slice(1, 0, 2048), golden.at(whole + "_first2048")) < 3e-4);
    }
  };
  acestep::make_song(inputs, parts, {.batch = inputs.request.variations}, hooks);
  CHECK(made == inputs.request.variations);
}

}  // namespace

TEST_CASE("acestep song: the whole chain is the original's, from its own JSON to the sound") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  for (const std::string name : {"text2music", "retake", "heun_cfg", "pingpong_cfg_star", "double",
                                 "decay_batch2", "no_lyrics", "oss", "erg", "erg_double"}) {
    check_golden_song(folder, name);
  }
}

TEST_CASE("acestep song: tasks that begin with a clip are the original's from sound to sound") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  for (const std::string name :
       {"repaint", "repaint_full_variance", "audio2audio", "extend_left", "extend_both", "edit"}) {
    check_golden_song(folder, name);
  }
}
