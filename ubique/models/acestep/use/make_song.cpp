// SPDX-License-Identifier: Apache-2.0
// The stages one after another, each with the networks that it needs.
#include "ubique/models/acestep/use/make_song.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "ubique/data/audio/loudness.h"
#include "ubique/models/acestep/use/sound/encode.h"

namespace ubique::acestep {
namespace {

constexpr int kSongRate = 48'000;

/// Thrown between steps when the person asks to stop.
struct StopSong {};

class Stopwatch {
 public:
  double seconds() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void check_finite(const at::Tensor& x, SongStage stage, std::int64_t step, at::ScalarType dtype) {
  if (x.isfinite().all().item<bool>()) return;
  throw NotFinite(stage, step,
                  fmt::format("[acestep.song] {} gave NaN or infinity in step {}, computed in {}; "
                              "expected finite numbers. --dtype f32 is the safe choice.",
                              to_string(stage), step, c10::toString(dtype)));
}

at::Tensor id_row(const std::vector<std::int64_t>& ids, c10::Device device) {
  return at::tensor(at::IntArrayRef(ids), at::kLong).unsqueeze(0).to(device);
}

class SongMaker {
 public:
  SongMaker(const SongInputs& inputs, Parts& parts, const SongOptions& options,
            const SongHooks& hooks)
      : inputs_(inputs),
        request_(inputs.request),
        parts_(parts),
        options_(options),
        hooks_(hooks),
        sampling_(sample_options(request_, parts.folder().networks)),
        chosen_(options.chosen) {
    for (std::int64_t i = 0; options.chosen.empty() && i < request_.variations; ++i) {
      chosen_.push_back(i);
    }
    if (request_.task == SongTask::Edit) sampling_.weak = {};  // its null branch is an empty one
    if (options_.record) sampling_.recorder = &parts_.recorder();
  }
  ~SongMaker() { detach_adapters(); }  // also of a song that failed
  SongMaker(const SongMaker&) = delete;
  SongMaker& operator=(const SongMaker&) = delete;

  SongResult run() {
    try {
      Stopwatch watch;
      encode_texts();
      const auto source = encode_source();
      result_.times.text = std::exchange(watch, {}).seconds();
      diffuse_all(source);
      result_.times.diffusion = watch.seconds();
    } catch (const StopSong&) {
      result_.stopped = true;
    }
    detach_adapters();
    release(Part::Transformer);
    decode_all();
    return result_;
  }

 private:
  void release(Part part) {
    if (options_.release_parts) parts_.release(part);
  }

  void report(SongStage stage, std::int64_t done, std::int64_t total, double left = -1) const {
    if (hooks_.progress) hooks_.progress({stage, done, total, left});
  }

  void stop_if_asked() const {
    if (hooks_.stop && hooks_.stop()) throw StopSong{};
  }

  SongTokens tokens_of(const PromptIds& prompt) const {
    const auto device = parts_.device();
    SongTokens tokens;
    tokens.text_ids = id_row(prompt.text, device);
    tokens.text_mask = at::ones_like(tokens.text_ids);
    const bool sung = !prompt.lyrics.empty();
    tokens.lyric_ids = id_row(sung ? prompt.lyrics : std::vector<std::int64_t>{0}, device);
    tokens.lyric_mask = sung ? at::ones_like(tokens.lyric_ids) : tokens.lyric_ids.clone();
    return tokens;
  }

  /// The text encoder is done before the transformer is loaded.
  void encode_texts() {
    report(SongStage::Text, 0, 1);
    const bool edits = request_.task == SongTask::Edit;
    const auto tokens = tokens_of(inputs_.prompt);
    const auto text = encode_text(parts_.text_encoder(), tokens, sampling_.weak);
    SongTokens target_tokens;
    TextStates target_text;
    if (edits) {
      target_tokens = tokens_of(inputs_.target);
      target_text = encode_text(parts_.text_encoder(), target_tokens, sampling_.weak);
    }
    check_finite(text.full, SongStage::Text, 0, parts_.dtype_of(Part::TextEncoder));
    release(Part::TextEncoder);
    stop_if_asked();
    const BranchOptions branches{.weak = sampling_.weak,
                                 .text_only = sampling_.guidance.is_double(),
                                 .null_hides_lyrics = edits};
    auto& dit = parts_.transformer();
    attach_adapters(dit);
    contexts_ = encode_song(text, dit, tokens, branches);
    if (edits) target_contexts_ = encode_song(target_text, dit, target_tokens, branches);
    check_finite(contexts_.cond.tokens, SongStage::Text, 0, parts_.dtype_of(Part::Transformer));
    report(SongStage::Text, 1, 1);
    stop_if_asked();
  }

  void attach_adapters(Dit& dit) {
    const c10::InferenceMode off(false);
    for (std::size_t i = 0; i < inputs_.adapters.size(); ++i) {
      const auto weight = request_.loras.at(i).weight;
      adapters_.push_back(attach_adapter(dit, inputs_.adapters[i], weight));
    }
  }

  void detach_adapters() {
    for (const auto& adapter : adapters_) adapter->detach();
    adapters_.clear();
  }

  /// (1, C, 16, T) f32, or undefined.
  at::Tensor encode_source() {
    if (!needs_source(request_.task)) return {};
    report(SongStage::Encoding, 0, 1);
    const auto latents = source_latents(parts_.dcae(), inputs_.source, parts_.device());
    check_finite(latents, SongStage::Encoding, 0, parts_.dtype_of(Part::Dcae));
    release(Part::Dcae);
    report(SongStage::Encoding, 1, 1);
    stop_if_asked();
    return latents;
  }

  at::Tensor noise(NoiseUse use, std::int64_t number, std::int64_t frames) const {
    const NoiseRequest asked{use, number, first_, items_, frames};
    if (hooks_.noise) return hooks_.noise(asked).to(parts_.device());
    const auto& config = parts_.folder().networks.transformer;
    const bool fresh = use == NoiseUse::Start || use == NoiseUse::Step;
    std::vector<at::Tensor> rows;
    for (auto i = first_; i < first_ + items_; ++i) {
      const auto which = variation(i);
      const auto seed = fresh ? request_.seed(which) : request_.retake_seed(which);
      rows.push_back(
          song_noise(seed, use, number, config.in_channels, config.patch_height, frames));
    }
    return at::stack(rows).to(parts_.device());
  }

  void diffuse_all(const at::Tensor& source) {
    for (first_ = 0; first_ < std::ssize(chosen_); first_ += items_) {
      items_ = std::min(options_.batch, std::ssize(chosen_) - first_);
      const auto made = diffuse(source.defined() ? source.expand({items_, -1, -1, -1}) : source);
      for (std::int64_t i = 0; i < items_; ++i) latents_.push_back(made[i].cpu());
    }
  }

  at::Tensor diffuse(const at::Tensor& source) {
    const auto& dit = parts_.transformer();
    const auto contexts = repeated(contexts_, items_);
    const auto hooks = sample_hooks();
    const auto frames = source.defined() ? source.size(-1) : inputs_.frames();
    const auto start = noise(NoiseUse::Start, 0, frames);
    switch (request_.task) {
      case SongTask::Text2Music:
        return sample_latents(dit, contexts, start, sampling_, hooks);
      case SongTask::Retake: {
        const auto other = noise(NoiseUse::Retake, 0, frames);
        return sample_latents(dit, contexts, mixed_noise(start, other, request_.variance),
                              sampling_, hooks);
      }
      case SongTask::Repaint:
      case SongTask::Extend:
        return sample_repaint(dit, contexts, window_task(source, start), sampling_, hooks);
      case SongTask::Edit: {
        std::int64_t drawn = 0;
        return edit_latents(
            dit, contexts, repeated(target_contexts_, items_), source, request_.edit, sampling_,
            [&] { return noise(NoiseUse::Edit, drawn++, frames); }, hooks);
      }
      case SongTask::Audio2Audio:
        break;
    }
    return sample_near(dit, contexts, source, start, request_.strength, sampling_, hooks);
  }

  RepaintTask window_task(const at::Tensor& source, const at::Tensor& start) const {
    const auto frames = source.size(-1);
    const auto retake = noise(NoiseUse::Retake, 0, frames);
    if (request_.task == SongTask::Extend) {
      return extend_task(source, start, retake, frames_of(request_.left), frames_of(request_.right),
                         request_.variance);
    }
    const auto last = request_.end == -1 ? frames : frames_of(request_.end);
    return repaint_task(source, start, retake, frames_of(request_.start), last, request_.variance);
  }

  SampleHooks sample_hooks() {
    SampleHooks hooks;
    hooks.noise = [this](std::size_t step) {
      return noise(NoiseUse::Step, static_cast<std::int64_t>(step), inputs_.frames());
    };
    hooks.after_step = [this](std::size_t step, std::size_t steps, const at::Tensor& latents) {
      const auto number = static_cast<std::int64_t>(step) + 1;
      check_finite(latents, SongStage::Diffusion, number, parts_.dtype_of(Part::Transformer));
      const auto per_batch = static_cast<std::int64_t>(steps);
      const auto batches = (std::ssize(chosen_) + options_.batch - 1) / options_.batch;
      const auto done = first_ / options_.batch * per_batch + number, total = batches * per_batch;
      ++taken_;
      const auto each = sampling_watch_.seconds() / static_cast<double>(taken_);
      report(SongStage::Diffusion, done, total, each * static_cast<double>(total - done));
      stop_if_asked();
    };
    if (taken_ == 0) sampling_watch_ = {};
    return hooks;
  }

  void decode_all() {
    const auto count = static_cast<std::int64_t>(latents_.size());
    const bool stopped_early = result_.stopped;
    for (std::int64_t i = 0; i < count; ++i) {
      // What was sampled before a stop is still decoded; a stop while decoding ends it.
      if (!stopped_early && i > 0 && hooks_.stop && hooks_.stop()) {
        result_.stopped = true;
        break;
      }
      const auto& latents = latents_[static_cast<std::size_t>(i)];
      const Stopwatch watch;
      MadeSong made{.variation = variation(i), .audio = decode(latents, i), .latents = latents};
      result_.times.decoding += watch.seconds();
      made.times = result_.times;
      if (hooks_.finished) hooks_.finished(made);
      ++result_.finished;
    }
    release(Part::Dcae);
    release(Part::Vocoder);
  }

  std::int64_t variation(std::int64_t index) const {
    return chosen_[static_cast<std::size_t>(index)];
  }

  /// The sound of one of the chosen variations, tile by tile.
  io::Audio decode(const at::Tensor& latents, std::int64_t index) {
    const auto& dcae = parts_.dcae();
    const auto& vocoder = parts_.vocoder();
    const auto limit = options_.longest_convolution;
    const DecodeOptions options{.rate = kSongRate,
                                .tile = tile_for(dcae, vocoder, limit, options_.tile)};
    const auto tiles = (latents.size(-1) + options.tile - 1) / options.tile;
    auto done = index * tiles;
    const auto total = static_cast<std::int64_t>(latents_.size()) * tiles;
    report(SongStage::Decoding, done, total);
    auto audio = decoded_sound(dcae, vocoder, latents.unsqueeze(0).to(parts_.device()), options,
                               [&](const at::Tensor& samples) {
                                 if (hooks_.sound) hooks_.sound(variation(index), samples);
                                 report(SongStage::Decoding, ++done, total);
                               });
    const auto samples = at::from_blob(
        audio.samples.data(), {static_cast<std::int64_t>(audio.samples.size())}, at::kFloat);
    check_finite(samples, SongStage::Decoding, 0, parts_.dtype_of(Part::Vocoder));
    const auto& output = request_.output;
    if (output.loudness) data::normalize_loudness(audio, *output.loudness);
    data::fade(audio, output.fade_in, output.fade_out);
    return audio;
  }

  const SongInputs& inputs_;
  const SongRequest& request_;
  Parts& parts_;
  const SongOptions& options_;
  const SongHooks& hooks_;
  SampleOptions sampling_;
  std::vector<std::unique_ptr<nn::LoraModule>> adapters_;
  SongContexts contexts_, target_contexts_;
  std::vector<std::int64_t> chosen_;    // variations
  std::int64_t first_ = 0, items_ = 1;  // of them in the batch
  std::vector<at::Tensor> latents_;     // of finished variations, on the host
  std::int64_t taken_ = 0;              // steps in this call
  Stopwatch sampling_watch_;
  SongResult result_;
};

}  // namespace

std::string_view to_string(SongStage stage) {
  switch (stage) {
    case SongStage::Text:
      return "text";
    case SongStage::Encoding:
      return "encoding";
    case SongStage::Diffusion:
      return "diffusion";
    case SongStage::Decoding:
      break;
  }
  return "decoding";
}

SongResult make_song(const SongInputs& inputs, Parts& parts, const SongOptions& options,
                     const SongHooks& hooks) {
  check(options.batch >= 1, ErrorKind::Internal, "[acestep.song] a batch of {} variations.",
        options.batch);
  const c10::InferenceMode inference;
  return SongMaker(inputs, parts, options, hooks).run();
}

}  // namespace ubique::acestep
