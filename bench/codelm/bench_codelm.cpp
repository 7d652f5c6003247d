// SPDX-License-Identifier: Apache-2.0
// Times code language models of published shapes with random weights, through the same code that
// train and run use: whole updates (the engine's learner with the optimizer), updates of adapters
// over a frozen base, and greedy decoding. One JSON line per case.
//   bench_codelm DEVICE train|lora|qlora SHAPE LENGTH BATCH [ROUNDS]
//   bench_codelm DEVICE decode SHAPE PROMPT NEW [ROUNDS] [WEIGHTS] [SLOTS]
// SHAPE: tiny (164 M), 1b (1.1 B). WEIGHTS: plan (as the plan says), f32, int8, int4, nf4.
// PROFILE=1, TRACE=FILE: measure.h; NO_CAPTURE=1: no CUDA graphs in training.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/updates.h"
#include "ubique/kernels/quant/quantized_linear.h"
#include "ubique/models/codelm/net/model.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/probe/probes/operation.h"

namespace {

using namespace ubique;

struct Case {
  std::string device, mode, shape;
  std::int64_t length = 1024, batch = 1;  // decoding: tokens of the prompt, new tokens
  int rounds = 5;
  std::string weights = "plan";
  std::int64_t slots = 1;
};

codelm::CodelmConfig config_of(const std::string& shape) {
  codelm::CodelmConfig config;  // tiny_starcoder_py
  config.fused_qkv = config.learned_positions = true;
  if (shape == "1b") {  // starcoderbase-1b
    config.hidden = 2048, config.layers = 24, config.heads = 16, config.head_size = 128;
    config.inner = 8192;
  } else {
    check(shape == "tiny", ErrorKind::Usage, "[bench.codelm] no such shape; got {}.", shape);
  }
  return config;
}

/// Weights that cost no time; only their sizes matter here.
void fill_with_noise(codelm::Codelm& network) {
  const at::NoGradGuard no_gradients;
  for (auto& parameter : network.parameters()) parameter.normal_(0, 0.02);
}

engine::Batch noise_batch(const codelm::CodelmConfig& config, const Case& wanted) {
  const auto ids = at::randint(config.vocabulary, {wanted.batch, wanted.length}, at::kLong);
  engine::Batch batch;
  batch.samples = wanted.batch;
  batch.weight = static_cast<double>(wanted.batch * wanted.length);
  batch.tensors = {
      {"ids", ids},
      {"labels", ids.roll({-1}, {1}).contiguous()},
      {"positions", at::arange(wanted.length).expand({wanted.batch, wanted.length}).contiguous()}};
  return batch;
}

class NoiseTask final : public engine::Task {
 public:
  explicit NoiseTask(const Case& wanted)
      : model_(std::make_shared<codelm::Codelm>(config_of(wanted.shape))) {
    model_.set_sequence_length(wanted.length);
    recipe_.optimizer.lr = 1e-4;
    recipe_.optimizer.decay_matrices_only = true;
    if (wanted.mode == "train") return;
    fill_with_noise(model_.codelm());
    model_.add_adapters({.rank = 16, .alpha = 32, .dropout = 0}, "random");
    if (wanted.mode == "qlora") model_.quantize_base("nf4");
  }
  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { throw std::logic_error("no data set"); }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override { return {}; }
  const codelm::CodelmConfig& settings() const { return model_.settings(); }

 private:
  codelm::CodelmModel model_;
  engine::Recipe recipe_;
};

Json time_training(const Case& wanted) {
  NoiseTask task(wanted);
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = plan::Mode::Train;
  wishes.batch = wishes.effective_batch = wanted.batch;
  wishes.dtype = DType::BF16;
  if (std::getenv("NO_CAPTURE") != nullptr) wishes.graph_capture = plan::Toggle::Off;
  const engine::Session session(task.model().needs(), wishes);
  const auto measured =
      bench::time_updates(task, session, noise_batch(task.settings(), wanted), wanted.rounds);
  const auto tokens = static_cast<double>(wanted.batch * wanted.length);
  return {{"median_ms", measured.ms},
          {"best_ms", measured.best_ms},
          {"tokens_per_s", 1000 * tokens / measured.ms},
          {"checkpointing", session.plan().checkpointing.value},
          {"recorded", session.plan().graph_capture.value},
          {"predicted_bytes", session.plan().memory.total},
          {"measured_bytes", measured.peak}};
}

/// The network on the session's device, its weights in the wanted form.
void place(codelm::Codelm& network, const Case& wanted, const engine::Session& session) {
  const auto device = session.torch_device();
  const auto format = kernels::parse_quant_format(wanted.weights);
  if (!format) network.to(device);
  fill_with_noise(network);
  auto dtype = probe::to_torch(session.plan().dtype.value);
  if (format) {
    network.quantize(*format, false, true);
    dtype = kernels::quantized_dtype(device, dtype);
  }
  network.to(device, dtype);
  network.move_quantized(device);
  network.refresh();
}

/// The likeliest token of every slot, again and again.
class Decoding {
 public:
  Decoding(nn::Decoder& decoder, std::int64_t length) : decoder_(decoder) {
    const Random random(3);
    for (std::int64_t i = 0; i < length; ++i) {
      prompt_.push_back(static_cast<std::int32_t>(random.below(
          static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(decoder.vocabulary()))));
    }
    next_.resize(static_cast<std::size_t>(decoder.slots()));
  }

  void begin() {
    for (std::int64_t slot = 0; slot < decoder_.slots(); ++slot) {
      next_[static_cast<std::size_t>(slot)] =
          decoder_.start({slot, prompt_}, nn::Wanted::Likeliest).likeliest.front();
    }
  }
  void steps(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<nn::Extension> all;
      for (std::size_t slot = 0; slot < next_.size(); ++slot) {
        all.push_back({static_cast<std::int64_t>(slot), std::span(next_).subspan(slot, 1)});
      }
      next_ = decoder_.extend(all, nn::Wanted::Likeliest).likeliest;
    }
  }

 private:
  nn::Decoder& decoder_;
  std::vector<std::int32_t> prompt_, next_;
};

/// Greedy decoding of `batch` tokens in every slot after a random prompt, whose time is left out.
Json time_decoding(const Case& wanted) {
  codelm::CodelmModel model(std::make_shared<codelm::Codelm>(config_of(wanted.shape)));
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = plan::Mode::Run;
  if (wanted.weights == "f32") wishes.dtype = DType::F32;
  const engine::Session session(model.needs(), wishes);
  place(model.codelm(), wanted, session);
  codelm::CodelmDecoder decoder(model.codelm(), {},
                                {.slots = wanted.slots,
                                 .most_tokens = wanted.length + wanted.batch + 1,
                                 .record = session.plan().graph_capture.value});
  Decoding decoding(decoder, wanted.length);
  std::vector<double> times;
  for (int round = 0; round <= wanted.rounds; ++round) {  // the first warms up
    decoding.begin();
    const auto start = std::chrono::steady_clock::now();
    decoding.steps(wanted.batch);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (round > 0) {
      times.push_back(static_cast<double>(wanted.batch * wanted.slots) / taken.count());
    }
  }
  if (std::getenv("PROFILE") != nullptr) {
    decoding.begin();
    bench::OpProfile profile(session.torch_device());
    profile.watch([&] { decoding.steps(20); });
    profile.print(40);
  }
  if (const char* file = std::getenv("TRACE")) {
    bench::trace_kernels([&] { decoding.steps(8); }, session.torch_device(), file);
  }
  std::sort(times.begin(), times.end());
  return {{"median_tokens_per_s", times[times.size() / 2]},
          {"best_tokens_per_s", times.back()},
          {"dtype", to_string(session.plan().dtype.value)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs("bench_codelm DEVICE train|lora|qlora|decode SHAPE LENGTH BATCH [ROUNDS]\n", stderr);
    return 2;
  }
  Case wanted{argv[1], argv[2], argv[3], std::atoll(argv[4]), std::atoll(argv[5])};
  if (argc > 6) wanted.rounds = std::atoi(argv[6]);
  if (argc > 7) wanted.weights = argv[7];
  if (argc > 8) wanted.slots = std::atoll(argv[8]);
  try {
    auto line = wanted.mode == "decode" ? time_decoding(wanted) : time_training(wanted);
    line["case"] = fmt::format("{} {} {} {} {} {}", wanted.mode, wanted.shape, wanted.length,
                               wanted.batch, wanted.weights, wanted.slots);
    std::puts(line.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_codelm: %s\n", error.what());
    return 1;
  }
}
