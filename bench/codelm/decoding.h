// SPDX-License-Identifier: Apache-2.0
// Greedy decoding by code language models of published shapes, for the benchmarks.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "bench/measure.h"
#include "ubique/engine/session/session.h"
#include "ubique/kernels/quant/quantized_linear.h"
#include "ubique/models/codelm/net/model.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::bench {

struct DecodingCase {
  std::string device, shape;
  std::int64_t prompt = 128, tokens = 256;  // new ones, for each slot
  int rounds = 5;
  std::string weights = "plan";
  std::int64_t slots = 1;
  bool own_steps = true;  // false: plain ops
};

inline codelm::CodelmConfig config_of(const std::string& shape) {
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
inline void fill_with_noise(codelm::Codelm& network) {
  const at::NoGradGuard no_gradients;
  for (auto& parameter : network.parameters()) parameter.normal_(0, 0.02);
}

/// The network on the session's device, its weights in the wanted form.
inline void place(codelm::Codelm& network, const DecodingCase& wanted,
                  const engine::Session& session) {
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

/// Greedy decoding of `tokens` tokens in every slot after a random prompt, whose time is left out.
inline Json time_decoding(const DecodingCase& wanted) {
  codelm::CodelmModel model(std::make_shared<codelm::Codelm>(config_of(wanted.shape)));
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = plan::Mode::Run;
  if (wanted.weights == "f32") wishes.dtype = DType::F32;
  const engine::Session session(model.needs(), wishes);
  place(model.codelm(), wanted, session);
  codelm::CodelmDecoder decoder(model.codelm(), {},
                                {.slots = wanted.slots,
                                 .most_tokens = wanted.prompt + wanted.tokens + 1,
                                 .record = session.plan().graph_capture.value,
                                 .own_steps = wanted.own_steps});
  Decoding decoding(decoder, wanted.prompt);
  std::vector<double> times;
  for (int round = 0; round <= wanted.rounds; ++round) {  // the first warms up
    decoding.begin();
    const auto start = std::chrono::steady_clock::now();
    decoding.steps(wanted.tokens);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (round > 0) {
      times.push_back(static_cast<double>(wanted.tokens * wanted.slots) / taken.count());
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
          {"recorded", session.plan().graph_capture.value},
          {"kernels", decoder.has_kernels()},
          {"dtype", to_string(session.plan().dtype.value)}};
}

}  // namespace ubique::bench
