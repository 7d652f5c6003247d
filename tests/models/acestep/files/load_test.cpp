// SPDX-License-Identifier: Apache-2.0
// Loading a network straight into what it is kept in: the same numbers, and no more memory.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/models/acestep/random_codec.h"
#include "ubique/device/runtime.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/acestep/files/weights.h"
#include "ubique/models/acestep/net/config/networks.h"

using namespace ubique;
using test::distance;

namespace {

std::filesystem::path saved(const test::ScratchFolder& scratch, const nn::Network& network) {
  std::vector<io::TensorData> data;
  std::vector<at::Tensor> held;
  for (const auto& item : network.named_parameters()) {
    held.push_back(item.value().detach().cpu().contiguous());
    data.push_back(
        {item.key(), DType::F32, held.back().sizes().vec(), engine::bytes_of(held.back())});
  }
  const auto path = scratch.path() / "weights.safetensors";
  io::write_safetensors(path, data, {});
  return path;
}

acestep::Umt5Config text_config() {
  auto config = acestep::tiny_networks().text;
  config.vocabulary = 20'000;  // the table is nearly everything
  return config;
}

acestep::DitConfig dit_config() {
  auto config = acestep::tiny_networks().transformer;
  config.projectors = false;
  return config;
}

}  // namespace

TEST_CASE("acestep weights: a mapped table gives the same states and takes no memory") {
  const test::ScratchFolder scratch;
  const at::NoGradGuard no_gradients;
  acestep::Umt5 filled(text_config());
  test::fill_randomly(filled);
  const auto path = saved(scratch, filled);
  device::reset_peak(at::kCPU);
  const auto before = device::memory_use(at::kCPU).peak_bytes;
  std::unique_ptr<acestep::Umt5> mapped;
  {
    const nn::WithoutMemory filled_below;
    mapped = std::make_unique<acestep::Umt5>(text_config());
  }
  acestep::load_weights(*mapped, path, {.device = test::kDevice, .mapped = {"shared.weight"}});
  mapped->refresh();
  const auto table = text_config().vocabulary * text_config().hidden * 4;
  CHECK(device::memory_use(at::kCPU).peak_bytes - before < table / 2);
  const auto ids = at::tensor({5, 19'999, 0, 77}, at::kLong).unsqueeze(0).to(test::kDevice);
  const auto mask = at::ones_like(ids);
  CHECK(distance(mapped->forward(ids, mask), filled.forward(ids, mask)) < 1e-6);
}

TEST_CASE(
    "acestep weights: loading in 8 bits gives what quantising later does, in half the memory") {
  const test::ScratchFolder scratch;
  const at::NoGradGuard no_gradients;
  const auto format = kernels::QuantFormat::Int8;
  acestep::Dit later(dit_config());
  test::fill_randomly(later);
  const auto path = saved(scratch, later);
  later.quantize(format);
  later.move_quantized(test::kDevice);
  device::reset_peak(at::kCPU);
  const auto before = device::memory_use(at::kCPU).peak_bytes;
  std::unique_ptr<acestep::Dit> loaded;
  {
    const nn::WithoutMemory filled_below;
    loaded = std::make_unique<acestep::Dit>(dit_config());
  }
  acestep::load_weights(
      *loaded, path,
      {.device = test::kDevice, .quantized = loaded->quantizable_layers(format), .format = format});
  loaded->refresh();
  const auto packed = acestep::quantized_values(dit_config(), format);
  const auto all = nn::count_values(acestep::parameter_shapes(dit_config()));
  const auto largest = dit_config().lyric.vocabulary * dit_config().lyric.hidden;
  CHECK(device::memory_use(at::kCPU).peak_bytes - before <
        4 * (all - packed) + 2 * packed + 6 * largest);
  CHECK(distance(loaded->weights().blocks[0].expand.quantized->packed,
                 later.weights().blocks[0].expand.quantized->packed) == 0);
  CHECK(distance(loaded->weights().blocks[1].self.q.bias, later.weights().blocks[1].self.q.bias) ==
        0);
  CHECK(distance(loaded->weights().lyric_tokens, later.weights().lyric_tokens) == 0);
  CHECK(loaded->weights().blocks[0].expand.weight.numel() == 0);
}

TEST_CASE("acestep weights: in another dtype and on another device, straight from the file") {
  const test::ScratchFolder scratch;
  const at::NoGradGuard no_gradients;
  acestep::Dit filled(dit_config());
  test::fill_randomly(filled);
  const auto path = saved(scratch, filled);
  const nn::WithoutMemory filled_below;
  acestep::Dit loaded(dit_config());
  acestep::load_weights(loaded, path, {.device = test::kDevice, .dtype = at::kBFloat16});
  loaded.refresh();
  const auto& q = loaded.weights().blocks[0].self.q.weight;
  CHECK(q.device() == test::kDevice);
  CHECK(distance(q, filled.weights().blocks[0].self.q.weight.to(at::kBFloat16)) == 0);
}
