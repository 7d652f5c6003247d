// SPDX-License-Identifier: Apache-2.0
// Times the stages of making a song, with random weights at the tiny or the released sizes: one
// pass of the transformer with two branches of guidance, sampling in steps, and decoding tile by
// tile (autoencoder, vocoder, conversion to 48 kHz). One JSON line.
//   bench_acestep DEVICE pass|sample|decode|song tiny|released SECONDS [STEPS] [DTYPE] [ROUNDS]
//   [FORM]
// FORM: int8, int4 or nf4 for the transformer's weights. PROFILE=1: see measure.h.
// CHANNELS_LAST=1: the autoencoder in that layout.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>

#include "bench/measure.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/device/select.h"
#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/models/acestep/use/sample.h"
#include "ubique/models/acestep/use/sound/decode_stream.h"

namespace {

using namespace ubique;
using bench::Measured;

struct Case {
  std::string device, work, size;
  double seconds = 10;
  std::int64_t steps = 27;
  at::ScalarType dtype = at::kFloat;
  int rounds = 3;
  std::string form;
};

/// Values that neither vanish nor explode, made quickly.
void fill(nn::Network& network) {
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
  }
  network.eval();
  network.refresh();
}

class Song {
 public:
  Song(const Case& wanted, c10::Device device)
      : wanted_(wanted),
        device_(device),
        networks_(wanted.size == "tiny" ? acestep::tiny_networks() : acestep::NetworkConfigs()) {
    networks_.transformer.projectors = false;
    const at::TensorOptions f32(at::TensorOptions(at::kFloat).device(device));
    if (wanted.work != "decode") {
      dit_ = std::make_unique<acestep::Dit>(networks_.transformer, f32.dtype(wanted.dtype));
      fill(*dit_);
      if (const auto format = kernels::parse_quant_format(wanted.form)) dit_->quantize(*format);
      dit_->move_quantized(device);
    }
    if (wanted.work == "decode" || wanted.work == "song") {
      dcae_ = std::make_unique<acestep::Dcae>(networks_.dcae, f32);
      vocoder_ = std::make_unique<acestep::Vocoder>(networks_.vocoder, f32);
      fill(*dcae_);
      if (std::getenv("CHANNELS_LAST") != nullptr) dcae_->use_channels_last();
      fill(*vocoder_);
    }
  }

  void run() const {
    if (wanted_.work == "pass") {
      pass();
    } else {
      auto latents = noise();
      if (dit_) latents = sample(latents);
      if (dcae_) decode(latents);
    }
  }

 private:
  at::Tensor noise() const {
    return at::randn({1, 8, 16, acestep::frames_of(wanted_.seconds)},
                     at::TensorOptions(at::kFloat).device(device_));
  }

  acestep::SongContexts contexts() const {
    constexpr std::int64_t kText = 40, kLyrics = 260;
    const auto options = at::TensorOptions(wanted_.dtype).device(device_);
    const auto ids = options.dtype(at::kLong);
    const auto context =
        dit_->encode({.text = at::randn({1, kText, networks_.transformer.text_size}, options),
                      .text_mask = at::ones({1, kText}, ids),
                      .speaker = at::zeros({1, networks_.transformer.speaker_size}, options),
                      .lyric_ids = at::ones({1, kLyrics}, ids),
                      .lyric_mask = at::ones({1, kLyrics}, ids)});
    return {.cond = context, .null = context, .text_only = {}};
  }

  void pass() const {
    const auto both = acestep::joined(contexts().cond, contexts().null);
    const auto latents = noise().to(wanted_.dtype).repeat({2, 1, 1, 1});
    const auto time = at::full({2}, 500.0, at::TensorOptions(at::kFloat).device(device_));
    (void)dit_->forward({.latents = latents, .timestep = time}, both);
  }

  at::Tensor sample(const at::Tensor& latents) const {
    return acestep::sample_latents(*dit_, contexts(), latents, {.steps = wanted_.steps});
  }

  void decode(const at::Tensor& latents) const {
    acestep::decode_stream(*dcae_, *vocoder_, latents, {}, [](const at::Tensor&) {});
  }

  const Case& wanted_;
  c10::Device device_;
  acestep::NetworkConfigs networks_;
  std::unique_ptr<acestep::Dit> dit_;
  std::unique_ptr<acestep::Dcae> dcae_;
  std::unique_ptr<acestep::Vocoder> vocoder_;
};

double peak_resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int run(const Case& wanted) {
  const c10::InferenceMode inference;
  const auto selected = device::select(device::parse_request(wanted.device));
  const auto device = selected.torch_device;
  const Song song(wanted, device);
  device::reset_peak(device);
  const auto before = device::memory_use(device).peak_bytes;
  song.run();
  const auto times = bench::times_of([&] { song.run(); }, device, wanted.rounds, 1);
  const auto peak = device::memory_use(device).peak_bytes;
  if (std::getenv("PROFILE") != nullptr) {
    bench::OpProfile profile(device);
    profile.watch([&] { song.run(); });
    profile.print(40);
  }
  const Json line = {{"program", "ubique"},
                     {"device", selected.facts.label()},
                     {"work", wanted.work},
                     {"size", wanted.size},
                     {"seconds", wanted.seconds},
                     {"steps", wanted.steps},
                     {"dtype", c10::toString(wanted.dtype)},
                     {"form", wanted.form},
                     {"median_ms", times[times.size() / 2]},
                     {"best_ms", times.front()},
                     {"weights_bytes", before},
                     {"peak_bytes", peak},
                     {"peak_resident_mib", peak_resident_mib()}};
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs(
        "bench_acestep DEVICE pass|sample|decode|song tiny|released SECONDS [STEPS] [DTYPE] "
        "[ROUNDS] [FORM]\n",
        stderr);
    return 2;
  }
  Case wanted{argv[1], argv[2], argv[3], std::atof(argv[4]), 27, at::kFloat, 3, ""};
  if (argc > 5) wanted.steps = std::atoll(argv[5]);
  if (argc > 6) wanted.dtype = std::string(argv[6]) == "bf16" ? at::kBFloat16 : at::kFloat;
  if (argc > 7) wanted.rounds = std::atoi(argv[7]);
  if (argc > 8) wanted.form = argv[8];
  try {
    return run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_acestep: %s\n", error.what());
    return 1;
  }
}
