// SPDX-License-Identifier: Apache-2.0
// Whole generations on latents against the original's: every task, solver and kind of guidance.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/acestep/golden.h"
#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/models/acestep/files/weights.h"
#include "ubique/models/acestep/use/edit.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden;

namespace {

/// One golden generation: its arguments, tensors and networks.
struct Generation {
  Generation(const std::filesystem::path& folder, const std::string& name)
      : args(test::read_json(folder / "pipeline" / (name + ".json")).at("args")),
        golden(folder / "pipeline" / (name + ".safetensors")) {
    const bool deep = name.starts_with("erg");
    const auto config =
        deep ? folder / "pipeline" / "erg_umt5_config.json" : folder / "umt5" / "config.json";
    text = std::make_unique<acestep::Umt5>(
        acestep::parse_umt5_config(test::read_json(config), config.string()));
    test::fill_by_formula(*text, deep ? folder / "pipeline" / "erg_umt5_weights_spec.json"
                                      : folder / "umt5" / "weights_spec.json");
    dit = deep ? test::golden_dit(folder / "pipeline" / "erg_dit_config.json",
                                  folder / "pipeline" / "erg_dit_weights_spec.json")
               : test::golden_dit(folder / "dit" / "config.json",
                                  folder / "dit" / "weights_spec.json");
  }

  double number(const char* key, double fallback) const { return args.value(key, fallback); }

  acestep::SongTokens tokens(const std::string& prefix = "") const {
    const auto batch = args.value("batch_size", std::int64_t{1});
    acestep::SongTokens made;
    made.text_ids = golden.at(prefix + "text.input_ids").repeat({batch, 1});
    made.text_mask = at::ones_like(made.text_ids);
    const bool lyrics = golden.has(prefix + "lyric.ids");
    made.lyric_ids = lyrics ? golden.at(prefix + "lyric.ids").unsqueeze(0).repeat({batch, 1})
                            : at::zeros({batch, 1}, made.text_ids.options());
    made.lyric_mask = lyrics ? at::ones_like(made.lyric_ids) : made.lyric_ids;
    return made;
  }

  acestep::SampleOptions options() const {
    acestep::SampleOptions made;
    made.solver = nn::parse_flow_solver(args.value("scheduler_type", "euler"));
    made.steps = args.at("infer_step").get<std::int64_t>();
    made.omega = number("omega_scale", 10);
    made.batch_mean = made.near_shift = true;
    for (const auto& step : split(args.value("oss_steps", ""), ',')) {
      if (!step.empty()) made.chosen_steps.push_back(std::stoll(step));
    }
    made.guidance = {.kind = nn::parse_guidance_kind(args.value("cfg_type", "apg")),
                     .scale = number("guidance_scale", 15),
                     .interval = number("guidance_interval", 0.5),
                     .decay = number("guidance_interval_decay", 0),
                     .text_scale = number("guidance_scale_text", 0),
                     .lyric_scale = number("guidance_scale_lyric", 0)};
    made.weak.text = args.at("use_erg_tag").get<bool>();
    made.weak.lyric = args.at("use_erg_lyric").get<bool>();
    made.weak.diffusion = args.at("use_erg_diffusion").get<bool>();
    return made;
  }

  acestep::SongContexts contexts() const {
    const auto sampling = options();
    const auto made = acestep::encode_song(
        *text, *dit, tokens(), {.weak = sampling.weak, .text_only = sampling.guidance.is_double()});
    CHECK(distance(made.cond.tokens, golden.at("cond.hidden_states")) < 5e-5);
    CHECK(distance(made.cond.mask, golden.at("cond.mask")) == 0);
    CHECK(distance(made.null.tokens, golden.at("null.hidden_states")) < 5e-5);
    if (made.text_only.has_value()) {
      CHECK(distance(made.text_only->tokens, golden.at("text_only.hidden_states")) < 5e-5);
    }
    return made;
  }

  /// Compares the latents after each step with those that went into the next prediction.
  acestep::SampleHooks hooks(std::size_t first = 0) const {
    acestep::SampleHooks made;
    made.after_step = [this, first](std::size_t i, std::size_t, const at::Tensor& latents) {
      const auto name = fmt::format("step{}.latent_in", i - first + 1);
      CAPTURE(name);
      if (golden.has(name)) CHECK(distance(latents, golden.at(name)) < 2e-4);
    };
    made.noise = [this](std::size_t i) { return golden.at(fmt::format("pingpong_noise.{}", i)); };
    return made;
  }

  void check_final(const at::Tensor& latents) const {
    CHECK(distance(latents, golden.at("final_latents")) < 2e-4);
  }

  Json args;
  Golden golden;
  std::unique_ptr<acestep::Umt5> text;
  std::unique_ptr<acestep::Dit> dit;
};

}  // namespace

TEST_CASE("acestep: songs from noise are the original's for every solver and guidance") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const at::NoGradGuard no_gradients;
  for (const std::string name : {"text2music", "heun_cfg", "pingpong_cfg_star", "double",
                                 "decay_batch2", "no_lyrics", "oss", "erg", "erg_double"}) {
    CAPTURE(name);
    const Generation run(folder, name);
    const auto noise = run.golden.at("noise.0");
    CHECK(acestep::frames_of(run.number("audio_duration", 0)) == noise.size(-1));
    run.check_final(
        acestep::sample_latents(*run.dit, run.contexts(), noise, run.options(), run.hooks()));
  }
}

TEST_CASE("acestep: a retake is the original's; without variance it is the same song") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const at::NoGradGuard no_gradients;
  const Generation run(folder, "retake");
  const auto first = run.golden.at("noise.0"), second = run.golden.at("noise.1");
  const auto noise = acestep::mixed_noise(first, second, run.number("retake_variance", 0));
  run.check_final(
      acestep::sample_latents(*run.dit, run.contexts(), noise, run.options(), run.hooks()));
  CHECK(distance(acestep::mixed_noise(first, second, 0), first) == 0);
  CHECK(distance(acestep::mixed_noise(first, second, 1), second) < 1e-6);
}

TEST_CASE("acestep: repainting is the original's and leaves the rest as it was") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const at::NoGradGuard no_gradients;
  for (const std::string name : {"repaint", "repaint_full_variance"}) {
    CAPTURE(name);
    const Generation run(folder, name);
    const auto source = run.golden.at("src_latents.0");
    const auto first = acestep::frames_of(run.number("repaint_start", 0));
    const auto last = acestep::frames_of(run.number("repaint_end", 0));
    const auto task =
        acestep::repaint_task(source, run.golden.at("noise.0"), run.golden.at("noise.1"), first,
                              last, run.number("retake_variance", 0));
    const auto skipped =
        static_cast<std::size_t>(static_cast<double>(run.options().steps) * (1 - task.variance));
    const auto made =
        acestep::sample_repaint(*run.dit, run.contexts(), task, run.options(), run.hooks(skipped));
    run.check_final(made);
    CHECK(distance(made.slice(-1, 0, first), source.slice(-1, 0, first)) < 1e-6);
    CHECK(distance(made.slice(-1, last), source.slice(-1, last)) < 1e-6);
    CHECK(distance(made.slice(-1, first, last), source.slice(-1, first, last)) > 0.1);
  }
}

TEST_CASE("acestep: extending is the original's on one side and on both") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const at::NoGradGuard no_gradients;
  for (const std::string name : {"extend_left", "extend_both"}) {
    CAPTURE(name);
    const Generation run(folder, name);
    const auto source = run.golden.at("src_latents.0");
    const auto left = -acestep::frames_of(run.number("repaint_start", 0));
    // The original counts the right part from the length after the left one was added.
    const auto end = acestep::frames_of(run.number("repaint_end", 0));
    const auto right = std::max<std::int64_t>(0, end - source.size(-1) - left);
    const auto task =
        acestep::extend_task(source, run.golden.at("noise.0"), run.golden.at("noise.1"), left,
                             right, run.number("retake_variance", 0));
    run.check_final(
        acestep::sample_repaint(*run.dit, run.contexts(), task, run.options(), run.hooks()));
  }
}

TEST_CASE("acestep: a song near a reference is the original's") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const at::NoGradGuard no_gradients;
  const Generation run(folder, "audio2audio");
  run.check_final(acestep::sample_near(
      *run.dit, run.contexts(), run.golden.at("src_latents.0"), run.golden.at("noise.0"),
      run.number("ref_audio_strength", 0), run.options(), run.hooks()));
}

TEST_CASE("acestep: an edit towards another prompt is the original's") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const at::NoGradGuard no_gradients;
  const Generation run(folder, "edit");
  const acestep::BranchOptions branches{.null_hides_lyrics = true};
  const auto source = acestep::encode_song(*run.text, *run.dit, run.tokens(), branches);
  const auto target = acestep::encode_song(*run.text, *run.dit, run.tokens("target_"), branches);
  const auto both = acestep::joined(source.cond, source.null);
  CHECK(distance(both.tokens, run.golden.at("cond.hidden_states")) < 5e-5);
  CHECK(distance(both.mask, run.golden.at("cond.mask")) == 0);
  const acestep::EditOptions edit{
      .begin = run.number("edit_n_min", 0),
      .end = run.number("edit_n_max", 1),
      .averaged = static_cast<std::int64_t>(run.number("edit_n_avg", 1))};
  int drawn = 0;
  const auto next = [&] { return run.golden.at(fmt::format("noise.{}", drawn++)); };
  run.check_final(acestep::edit_latents(*run.dit, source, target, run.golden.at("src_latents.0"),
                                        edit, run.options(), next));
  CHECK(drawn == 7);
}

TEST_CASE("acestep: windows outside of the clip and absurd shares are refused") {
  const auto x = at::zeros({1, 8, 16, 10});
  CHECK_THROWS_AS(acestep::repaint_task(x, x, x, 4, 4, 0.5), Error);
  CHECK_THROWS_AS(acestep::repaint_task(x, x, x, -1, 4, 0.5), Error);
  CHECK_THROWS_AS(acestep::repaint_task(x, x, x, 4, 11, 0.5), Error);
  CHECK_THROWS_AS(acestep::repaint_task(x, x, x, 4, 5, 1.5), Error);
  CHECK_THROWS_AS(acestep::extend_task(x, x, x, 0, 0, 1), Error);
  CHECK_THROWS_AS(acestep::extend_task(x, x, x, 11, 0, 1), Error);
  CHECK(acestep::extend_task(x, x, x, 10, 3, 1).source.size(-1) == 23);
  CHECK_THROWS_AS(acestep::mixed_noise(x, x, -0.1), Error);
  CHECK(acestep::frames_of(60) == 645);
  CHECK(acestep::frames_of(240) == acestep::kMostFrames);
  CHECK(acestep::frames_of(-0.3) == -3);
}

TEST_CASE("acestep: without guidance an edit towards the same prompt changes nothing") {
  const at::NoGradGuard no_gradients;
  acestep::DitConfig config{
      .layers = 2,
      .heads = 2,
      .head_size = 8,
      .speaker_size = 4,
      .text_size = 6,
      .lyric = {.vocabulary = 9, .hidden = 8, .heads = 2, .inner = 12, .layers = 1},
      .projectors = false};
  acestep::Dit dit(config);
  std::uint64_t seed = 1;
  for (auto& parameter : dit.parameters()) {
    parameter.copy_(test::random_tensor(parameter.sizes(), seed++) / 4);
  }
  dit.to(test::kDevice);
  dit.refresh();
  const auto made = [&](at::IntArrayRef shape) {
    return test::random_tensor(shape, seed++).to(test::kDevice);
  };
  const auto ids = at::arange(1, 4, at::kLong).unsqueeze(0).to(test::kDevice);
  acestep::SongContexts contexts;
  contexts.cond = dit.encode({.text = made({1, 3, 6}),
                              .text_mask = at::ones_like(ids),
                              .speaker = made({1, 4}),
                              .lyric_ids = ids,
                              .lyric_mask = at::ones_like(ids)});
  const auto source = made({1, 8, 16, 5});
  acestep::SampleOptions options{.steps = 4};
  options.guidance.scale = 1;
  const auto next = [&] { return made({1, 8, 16, 5}); };
  const auto edited =
      acestep::edit_latents(dit, contexts, contexts, source, {.averaged = 2}, options, next);
  CHECK(distance(edited, source) < 1e-4);
  const auto sampled = acestep::sample_latents(dit, contexts, made({1, 8, 16, 5}), options);
  CHECK(distance(sampled, source) > 0.1);
}
