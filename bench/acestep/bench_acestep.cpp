// SPDX-License-Identifier: Apache-2.0
// Times the stages of making a song, with random weights at the tiny or the released sizes: a pass
// of the transformer, sampling in steps, decoding (autoencoder, vocoder, conversion to 48 kHz), a
// whole song from token ids to samples, and an update of LoRA adapters. One JSON line, with the
// peak of memory and what the plan predicts.
//   bench_acestep DEVICE pass|sample|decode|song|train tiny|released SECONDS [NAME=VALUE ...]
//   steps=27 rounds=3 dtype=bf16|f16|f32 (else the plan's)
//   batch=2      of `pass`: branches of guidance
//   form=nf4     the transformer's weights in int8, int4 or nf4
//   record=0     kernels are launched one by one
//   tile=64      latent frames that are decoded at once, else as `run` chooses
//   checkpointing=on|off, of `train`
//   channels_last=1, half=1: the autoencoder's layout, decoding in f16; else as `run` chooses
// PROFILE=1, TRACE=FILE: see measure.h.
#include "bench/acestep/bench_acestep.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

#include "bench/measure.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/models/acestep/net/needs.h"
#include "ubique/models/acestep/use/sample.h"
#include "ubique/models/acestep/use/sound/decode_choice.h"
#include "ubique/models/acestep/use/sound/encode.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::bench {

void fill(nn::Network& network) {
  const at::NoGradGuard no_gradients;
  for (auto& item : network.named_parameters()) {
    auto& value = item.value();
    const bool matrix = value.dim() >= 2;
    const bool scale = !matrix && item.key().ends_with("weight");
    const auto inputs = matrix ? static_cast<double>(value[0].numel()) : 1.0;
    if (matrix) {
      value.uniform_(-1 / std::sqrt(inputs), 1 / std::sqrt(inputs));
    } else {
      value.fill_(scale ? 1 : 0);
    }
    value.requires_grad_(false);
  }
  network.eval();
  network.refresh();
}

acestep::NetworkConfigs networks_of(const SongCase& wanted) {
  auto networks = wanted.size == "tiny" ? acestep::tiny_networks() : acestep::NetworkConfigs();
  networks.transformer.projectors = false;
  return networks;
}

plan::Wishes wishes_of(const SongCase& wanted, plan::Mode mode) {
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = mode;
  if (wanted.dtype == "bf16") wishes.dtype = DType::BF16;
  if (wanted.dtype == "f16") wishes.dtype = DType::F16;
  if (wanted.dtype == "f32") wishes.dtype = DType::F32;
  if (wanted.checkpointing == "on") wishes.checkpointing = plan::Toggle::On;
  if (wanted.checkpointing == "off") wishes.checkpointing = plan::Toggle::Off;
  return wishes;
}

namespace {

/// The networks that the work needs, on the device.
class Song {
 public:
  Song(const SongCase& wanted, const engine::Session& session)
      : wanted_(wanted), device_(session.torch_device()), networks_(networks_of(wanted)) {
    const auto f32 = at::TensorOptions(at::kFloat).device(device_);
    dtype_ = probe::to_torch(session.plan().dtype.value);
    if (wanted.work != "decode") {
      dit_ = std::make_unique<acestep::Dit>(networks_.transformer, f32.dtype(dtype_));
      fill(*dit_);
      if (const auto format = kernels::parse_quant_format(wanted.form)) dit_->quantize(*format);
      dit_->move_quantized(device_);
      text_ = std::make_unique<acestep::Umt5>(networks_.text, f32.dtype(dtype_));
      fill(*text_);
      contexts_ = encoded();
    }
    if (wanted.work == "decode" || wanted.work == "song") {
      dcae_ = std::make_unique<acestep::Dcae>(networks_.dcae, f32);
      vocoder_ = std::make_unique<acestep::Vocoder>(networks_.vocoder, f32);
      fill(*dcae_);
      fill(*vocoder_);
      const auto& plan = session.plan();
      const bool last = plan.memory_format.value == probe::Layout::ChannelsLast;
      if (wanted.channels_last.value_or(last)) dcae_->use_channels_last();
      if (wanted.half.value_or(acestep::halves_decoder(plan))) {
        dcae_->decode_in_half();
        vocoder_->compute_in_half();
      }
      decoding_.tile = wanted.tile.value_or(acestep::decode_tile(session.facts()));
    }
    noise_ = at::randn({1, 8, 16, acestep::frames_of(wanted.seconds)}, f32);
  }

  void run() {
    if (wanted_.work == "pass") return pass();
    if (wanted_.work == "song") contexts_ = encoded();
    auto latents = noise_;
    if (dit_) latents = sample();
    if (dcae_) (void)acestep::decoded_sound(*dcae_, *vocoder_, latents, decoding_);
  }

 private:
  acestep::SongContexts encoded() const {
    const auto ids = at::TensorOptions(at::kLong).device(device_);
    const auto text = at::ones({1, kTagTokens}, ids), lyrics = at::ones({1, kLyricTokens}, ids);
    return acestep::encode_song(*text_, *dit_, {text, text, lyrics, lyrics}, {});
  }

  acestep::PassRecorder* recorder() { return wanted_.record ? &recorder_ : nullptr; }

  void pass() {
    const bool both = wanted_.batch == 2;
    if (both && !joined_.mask.defined()) joined_ = joined(contexts_.cond, contexts_.null);
    const auto latents = noise_.repeat({wanted_.batch, 1, 1, 1});
    const auto& context = both ? joined_ : contexts_.cond;
    if (wanted_.record) {
      (void)recorder_.velocity(*dit_, latents, 500, context, {});
    } else {
      (void)acestep::plain_velocity(*dit_, latents, 500, context, {});
    }
  }

  at::Tensor sample() {
    return acestep::sample_latents(*dit_, contexts_, noise_,
                                   {.steps = wanted_.steps, .recorder = recorder()});
  }

  const SongCase& wanted_;
  c10::Device device_;
  acestep::NetworkConfigs networks_;
  at::ScalarType dtype_ = at::kFloat;
  std::unique_ptr<acestep::Dit> dit_;
  std::unique_ptr<acestep::Umt5> text_;
  std::unique_ptr<acestep::Dcae> dcae_;
  std::unique_ptr<acestep::Vocoder> vocoder_;
  acestep::SongContexts contexts_;
  acestep::DecodeOptions decoding_;
  acestep::DitContext joined_;
  acestep::PassRecorder recorder_;
  at::Tensor noise_;
};

double peak_resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Json time_song(const SongCase& wanted) {
  const auto facts = device::select(device::parse_request(wanted.device)).facts;
  const acestep::SongSize size{.seconds = wanted.seconds,
                               .steps = wanted.steps,
                               .tile = wanted.tile.value_or(acestep::decode_tile(facts)),
                               .weights = kernels::parse_quant_format(wanted.form)};
  const engine::Session session(acestep::song_needs(networks_of(wanted), size),
                                wishes_of(wanted, plan::Mode::Run));
  const auto device = session.torch_device();
  const c10::InferenceMode inference;
  device::reset_peak(device);
  Song song(wanted, session);
  const auto weights = device::memory_use(device).current_bytes;
  const auto measured = measure([&] { song.run(); }, device, static_cast<int>(wanted.rounds));
  const auto& plan = session.plan();
  return {{"median_ms", measured.ms},
          {"best_ms", measured.best_ms},
          {"realtime_factor", 1000 * wanted.seconds / measured.ms},
          {"dtype", to_string(plan.dtype.value)},
          {"tf32", plan.tf32.value},
          {"channels_last", plan.memory_format.value == probe::Layout::ChannelsLast},
          {"weights_bytes", weights},
          {"predicted_bytes", plan.memory.total},
          {"peak_bytes", measured.peak},
          {"warm_peak_bytes", measured.warm_peak}};
}

void read_option(SongCase& wanted, const std::string& option) {
  const auto equals = option.find('=');
  const auto name = option.substr(0, equals);
  const auto value = equals == std::string::npos ? "" : option.substr(equals + 1);
  const auto number = [&] { return std::stoll(value); };
  const std::map<std::string, std::function<void()>> setters = {
      {"steps", [&] { wanted.steps = number(); }},
      {"batch", [&] { wanted.batch = number(); }},
      {"rounds", [&] { wanted.rounds = number(); }},
      {"tile", [&] { wanted.tile = number(); }},
      {"record", [&] { wanted.record = number() != 0; }},
      {"channels_last", [&] { wanted.channels_last = number() != 0; }},
      {"half", [&] { wanted.half = number() != 0; }},
      {"dtype", [&] { wanted.dtype = value; }},
      {"form", [&] { wanted.form = value; }},
      {"checkpointing", [&] { wanted.checkpointing = value; }}};
  const auto found = setters.find(name);
  check(found != setters.end(), ErrorKind::Usage,
        "[bench.acestep] unknown option; got '{}', expected one of those at the top of "
        "bench_acestep.cpp.",
        option);
  found->second();
}

int run(const SongCase& wanted) {
  auto line = wanted.work == "train" ? time_training(wanted) : time_song(wanted);
  line["program"] = "ubique";
  line["device"] = wanted.device;
  line["case"] =
      fmt::format("{} {} {:g} s, {} steps, batch {}, recorded {}, {}", wanted.work, wanted.size,
                  wanted.seconds, wanted.steps, wanted.batch, wanted.record, wanted.form);
  line["peak_resident_mib"] = peak_resident_mib();
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace ubique::bench

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs(
        "bench_acestep DEVICE pass|sample|decode|song|train tiny|released SECONDS [NAME=VALUE "
        "...]\n",
        stderr);
    return 2;
  }
  try {
    ubique::bench::SongCase wanted{argv[1], argv[2], argv[3], std::atof(argv[4])};
    for (int i = 5; i < argc; ++i) ubique::bench::read_option(wanted, argv[i]);
    return ubique::bench::run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_acestep: %s\n", error.what());
    return 1;
  }
}
