// SPDX-License-Identifier: Apache-2.0
// All that is to be known about greedy decoding on a device, in one run: tokens a second of both
// shapes with 1 and 16 texts, by our kernels and by plain ops; then what each kernel of a step
// takes by itself, recorded for all layers one after the other, and the whole step without a host.
//   bench_decode DEVICE [all|tiny|1b] [kernels|plain|both] [ROUNDS]
#include <fmt/format.h>

#include <cstdio>
#include <functional>

#include "bench/codelm/decoding.h"
#include "ubique/device/recording.h"
#include "ubique/nn/steps/device_step.h"

namespace {

using namespace ubique;
using namespace ubique::bench;

constexpr std::int64_t kCapacity = 385, kPosition = 256;  // of the caches, and about the mean

struct Part {
  std::string name;
  std::int64_t launches, bytes;  // of all layers
  std::function<void()> work;
};

std::int64_t bytes_of(const std::vector<nn::HostLinear>& layers) {
  std::int64_t bytes = 0;
  for (const auto& layer : layers) bytes += static_cast<std::int64_t>(layer.weight.nbytes());
  return bytes;
}

/// The kernels of a step over the network's own weights, so that none is in a cache.
class Parts {
 public:
  Parts(const nn::HostNetwork& network, std::int64_t rows)
      : network_(network),
        heads_{.heads = network.heads,
               .kv_heads = network.kv_heads,
               .size = network.head_size,
               .by_head = network.by_head} {
    const auto options = network.tokens.options();
    const auto make = [&](std::int64_t width) { return at::zeros({rows, width}, options); };
    x_ = make(network.hidden), y_ = make(network.hidden);
    qkv_ = make((network.heads + 2 * network.kv_heads) * network.head_size);
    mixed_ = make(network.heads * network.head_size);
    inner_ = make(network.blocks.front().inner.front().out);
    inputs_ = at::full({2, rows}, kPosition, options.dtype(at::kLong));
    next_ = inputs_.clone();
    scratch_ = kernels::decode_scratch(heads_, rows, kCapacity, network.tokens.device());
    logits_ = at::zeros({rows, network.head.out}, options.dtype(at::kFloat));
    likeliest_ = at::zeros({rows, 2}, logits_.options());
    best_ = at::zeros({256, rows, 2}, logits_.options());
    for (std::size_t i = 0; i < network.blocks.size(); ++i) {
      caches_.push_back(
          nn::KvCache::make(rows, network.kv_heads, kCapacity, network.head_size, options));
    }
  }

  std::vector<Part> all() {
    using Block = nn::HostBlock;
    std::vector<Part> parts;
    const auto add = [&](const char* name, const auto& layers, auto work) {
      std::int64_t bytes = 0;
      for (const auto& block : network_.blocks) bytes += bytes_of(layers(block));
      parts.push_back(
          {name, static_cast<std::int64_t>(network_.blocks.size()), bytes, [this, work] {
             for (std::size_t i = 0; i < network_.blocks.size(); ++i) work(i);
           }});
    };
    const auto one = [](const nn::HostLinear& layer) { return std::vector{layer}; };
    add(
        "norm + qkv", [](const Block& b) { return b.qkv; },
        [this](std::size_t i) {
          const auto& block = network_.blocks[i];
          product(x_, &block.first_norm, block.qkv, {.out = qkv_});
        });
    add(
        "attention", [](const Block&) { return std::vector<nn::HostLinear>(); },
        [this](std::size_t i) {
          kernels::decode_attend({.qkv = qkv_,
                                  .inputs = inputs_,
                                  .keys = caches_[i].keys,
                                  .values = caches_[i].values,
                                  .partial = scratch_.partial,
                                  .counters = scratch_.counters,
                                  .mixed = mixed_,
                                  .heads = heads_});
        });
    add(
        "output + residual", [&](const Block& b) { return one(b.output); },
        [this](std::size_t i) {
          product(mixed_, nullptr, {&network_.blocks[i].output, 1}, {.residual = x_, .out = y_});
        });
    add(
        "norm + up", [](const Block& b) { return b.inner; },
        [this](std::size_t i) {
          const auto& block = network_.blocks[i];
          product(y_, &block.second_norm, block.inner,
                  {.gated = block.inner.size() == 2,
                   .activation = kernels::DecodeActivation::GeluTanh,
                   .out = inner_});
        });
    add(
        "down + residual", [&](const Block& b) { return one(b.down); },
        [this](std::size_t i) {
          product(inner_, nullptr, {&network_.blocks[i].down, 1}, {.residual = y_, .out = x_});
        });
    parts.push_back(
        {"norm + head", 1, bytes_of({network_.head}), [this] {
           product(x_, &network_.final_norm, {&network_.head, 1}, {.out = logits_, .best = best_});
         }});
    parts.push_back({"embedding", 1, 0, [this] {
                       kernels::decode_embed(inputs_, network_.tokens, network_.positions, x_);
                     }});
    parts.push_back({"choice", 1, 0, [this] {
                       kernels::decode_choose(best_, inputs_, kCapacity, likeliest_, next_);
                     }});
    return parts;
  }

 private:
  void product(const at::Tensor& x, const nn::HostNormWeights* norm,
               std::span<const nn::HostLinear> layers, kernels::DecodeProduct product) {
    std::vector<at::Tensor> weights, biases;
    for (const auto& layer : layers) {
      weights.push_back(layer.weight);
      biases.push_back(layer.bias.defined() ? layer.bias : at::empty({0}, logits_.options()));
    }
    product.x = x, product.weights = weights, product.biases = biases;
    if (norm != nullptr) {
      product.norm = kernels::DecodeNorm::Layer;
      product.norm_weight = norm->weight, product.norm_bias = norm->bias;
    }
    kernels::decode_product(product);
  }

  const nn::HostNetwork& network_;
  kernels::DecodeHeads heads_;
  kernels::DecodeScratch scratch_;
  std::vector<nn::KvCache> caches_;
  at::Tensor x_, y_, qkv_, mixed_, inner_, inputs_, next_, logits_, likeliest_, best_;
};

/// Microseconds of recorded work, in a row of replays.
double recorded_us(c10::Device device, const std::function<void()>& work) {
  const auto recording = device::record(device, "a part of a decoding step", work);
  const auto times = times_of([&] { recording ? recording->replay() : work(); }, device, 5, 20);
  return 1000 * times[times.size() / 2];
}

void print_row(const std::string& name, std::int64_t launches, double us, std::int64_t bytes) {
  fmt::print("  {:20} {:4} launches  {:8.2f} us each  {:8.1f} us a step  {:7.0f} GB/s\n", name,
             launches, us / static_cast<double>(launches), us,
             static_cast<double>(bytes) / us / 1000);
}

/// Times each part, then the step of which they are parts.
void show_parts(const std::string& device, const std::string& shape, std::int64_t rows) {
  codelm::CodelmModel model(std::make_shared<codelm::Codelm>(config_of(shape)));
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  wishes.device = device;
  const engine::Session session(model.needs(), wishes);
  place(model.codelm(), {.device = device, .shape = shape}, session);
  const auto network = model.codelm().decoding_network();
  auto step = network ? nn::DeviceStep::make(*network, rows) : nullptr;
  fmt::print("{} with {} texts, each kernel by itself:\n", shape, rows);
  if (!step) {
    fmt::print("  this device has no kernels for decoding steps\n");
    return;
  }
  const c10::InferenceMode inference;
  double sum = 0;
  std::int64_t bytes = 0;
  Parts parts(*network, rows);
  for (const auto& part : parts.all()) {
    const auto us = recorded_us(session.torch_device(), part.work);
    print_row(part.name, part.launches, us, part.bytes);
    sum += us, bytes += part.bytes;
  }
  step->prepare(kCapacity);
  const auto results = step->make_results();
  const auto inputs = at::full({2, rows}, kPosition, results.next.options());
  std::vector<nn::KvCache> caches;
  for (std::size_t i = 0; i < network->blocks.size(); ++i) {
    caches.push_back(nn::KvCache::make(rows, network->kv_heads, kCapacity, network->head_size,
                                       network->tokens.options()));
  }
  const auto whole =
      recorded_us(session.torch_device(), [&] { step->run(inputs, caches, results); });
  print_row("whole step", 1, whole, bytes);
  fmt::print("  sum of the parts {:.1f} us; at most {:.0f} tokens/s without a host\n", sum,
             1e6 * static_cast<double>(rows) / whole);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "cuda", which = argc > 2 ? argv[2] : "all";
  const std::string by = argc > 3 ? argv[3] : "both";
  const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
  try {
    for (const std::string shape : {"tiny", "1b"}) {
      if (which != "all" && which != shape) continue;
      for (const std::int64_t slots : {1, 16}) {
        for (const bool own : {true, false}) {
          if (by == (own ? "plain" : "kernels")) continue;
          const auto line = time_decoding({.device = device,
                                           .shape = shape,
                                           .rounds = rounds,
                                           .slots = slots,
                                           .own_steps = own});
          fmt::print("{:5} {:2} texts, {:7}: {:9.0f} tokens/s (best {:9.0f}) {}\n", shape, slots,
                     own ? "kernels" : "plain", line["median_tokens_per_s"].get<double>(),
                     line["best_tokens_per_s"].get<double>(), line.dump());
          std::fflush(stdout);
        }
        if (by != "plain") show_parts(device, shape, slots);
        std::fflush(stdout);
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_decode: %s\n", error.what());
    return 1;
  }
}
