// SPDX-License-Identifier: Apache-2.0
// Adapters on disk: every form and back, their strength, and those that do not fit.
#include "ubique/models/acestep/files/adapters/adapter_file.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/device.h"
#include "tests/models/acestep/small_model.h"
#include "tests/tensors.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/acestep/files/adapter_writer.h"
#include "ubique/models/acestep/files/folder_writer.h"
#include "ubique/models/acestep/files/open.h"

using namespace ubique;
using test::distance;

namespace {

/// A model folder, and a model of it with an adapter that does something.
struct Adapted {
  explicit Adapted(acestep::AdapterOptions options = {.rank = 4, .alpha = 8}) {
    model = acestep::read_transformer(folder.path());
    model->add_adapter(options);
    fill(*model->adapter(), 7);
  }

  static void fill(nn::LoraModule& adapter, std::uint64_t seed) {
    const at::NoGradGuard no_gradients;
    std::uint64_t stream = 0;
    for (auto& parameter : adapter.parameters()) {
      auto values = at::empty(parameter.sizes(), at::TensorOptions(at::kFloat));
      Random(seed, stream++)
          .fill_normal({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                       0, 0.3F);
      parameter.copy_(values);
    }
  }

  std::filesystem::path file(const std::string& name) const { return folder.scratch() / name; }

  test::SmallModel folder;
  std::unique_ptr<acestep::AcestepModel> model;
};

/// Of more rows than those whose products round their input to 8 bits.
at::Tensor velocity_of(const acestep::Dit& dit) {
  const at::NoGradGuard no_gradients;
  const auto device = dit.weights().text.bias.device();
  const auto wave = [&](at::IntArrayRef shape) {
    std::int64_t count = 1;
    for (const auto extent : shape) count *= extent;
    return at::arange(count, at::kFloat).mul(0.7).sin().reshape(shape).to(device);
  };
  const auto context =
      dit.encode({.text = wave({1, 20, 64}),
                  .text_mask = at::ones({1, 20}).to(device),
                  .speaker = at::zeros({1, 16}).to(device),
                  .lyric_ids = at::arange(3, 23, at::kLong).unsqueeze(0).to(device),
                  .lyric_mask = at::ones({1, 20}).to(device)});
  return dit
      .forward({.latents = wave({1, 8, 16, 24}), .timestep = at::full({1}, 500.0).to(device)},
               context)
      .velocity.cpu();
}

}  // namespace

TEST_CASE("adapter files: the original's form has the trained strength at weight 1") {
  for (const bool stabilized : {false, true}) {
    const Adapted adapted({.rank = 4, .alpha = 8, .rank_stabilized = stabilized});
    const auto wanted = velocity_of(adapted.model->dit());
    acestep::write_original_adapter(*adapted.model, adapted.file("out"), false);
    const auto read = acestep::read_adapter(adapted.file("out"));
    CHECK(read.options.scale() == 1);
    auto base = acestep::read_transformer(adapted.folder.path());
    const auto adapter = acestep::attach_adapter(base->dit(), read);
    CHECK(distance(velocity_of(base->dit()), wanted) < 1e-5);
  }
}

TEST_CASE("adapter files: raw numbers are those of the training, alpha is in the metadata") {
  const Adapted adapted;
  const auto path = adapted.file("raw.safetensors");
  acestep::write_original_adapter(*adapted.model, path, true);
  const auto read = acestep::read_adapter(path);
  CHECK(read.alpha_known);
  CHECK(read.options.alpha == 8);
  for (const auto& [name, tensor] : engine::state_dict(*adapted.model->adapter())) {
    CHECK(distance(engine::find_tensor(read.tensors, name), tensor.detach()) == 0);
  }
  // Another program's file says nothing: scale 1, unless a person knows better.
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : read.tensors) {
    data.push_back(
        {"transformer." + name, DType::F32, tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  io::write_safetensors(adapted.file("plain.safetensors"), data);
  const auto plain = acestep::read_adapter(adapted.file("plain.safetensors"));
  CHECK_FALSE(plain.alpha_known);
  CHECK(plain.options.scale() == 1);
  CHECK(acestep::read_adapter(adapted.file("plain.safetensors"), 8).options.scale() == 2);
  CHECK_THROWS_AS(acestep::read_adapter(path, -1), Error);
}

TEST_CASE("adapter files: PEFT's folder keeps numbers, alpha, targets") {
  const Adapted adapted({.rank = 4, .alpha = 8, .rank_stabilized = true, .targets = {"to_q"}});
  acestep::write_peft_adapter(*adapted.model, adapted.file("peft"));
  CHECK(acestep::looks_like_adapter(adapted.file("peft")));
  const auto read = acestep::read_adapter(adapted.file("peft"));
  CHECK(read.options.scale() == 4);  // 8 / √4
  CHECK(read.options.targets.size() == 4);
  auto base = acestep::read_transformer(adapted.folder.path());
  const auto adapter = acestep::attach_adapter(base->dit(), read);
  CHECK(distance(velocity_of(base->dit()), velocity_of(adapted.model->dit())) < 1e-5);
}

TEST_CASE(
    "adapter files: weight 0 is the base to the bit, two adapters add up, merged is attached") {
  const Adapted adapted;
  acestep::write_original_adapter(*adapted.model, adapted.file("out"), true);
  const auto read = acestep::read_adapter(adapted.file("out"));
  auto base = acestep::read_transformer(adapted.folder.path());
  const auto plain = velocity_of(base->dit());
  const auto silent = acestep::attach_adapter(base->dit(), read, 0);
  CHECK(distance(velocity_of(base->dit()), plain) == 0);
  const auto half = acestep::attach_adapter(base->dit(), read, 0.5);
  const auto other_half = acestep::attach_adapter(base->dit(), read, 0.5);
  const auto whole = velocity_of(adapted.model->dit());
  CHECK(distance(velocity_of(base->dit()), whole) < 1e-5);
  CHECK(distance(plain, whole) > 1e-3);
  adapted.model->merge_adapter();
  CHECK(distance(velocity_of(adapted.model->dit()), whole) < 1e-5);
}

TEST_CASE("adapter files: an adapter on weights in 8 and 4 bits is the same adapter") {
  const Adapted adapted;
  acestep::write_original_adapter(*adapted.model, adapted.file("out"), true);
  const auto read = acestep::read_adapter(adapted.file("out"));
  for (const auto format : {kernels::QuantFormat::Int8, kernels::QuantFormat::Nf4}) {
    auto base = acestep::read_transformer(adapted.folder.path());
    base->dit().quantize(format, format == kernels::QuantFormat::Nf4);
    auto restored = acestep::read_transformer(adapted.folder.path());
    const auto layers = restored->dit().heavy_layers();
    for (const auto& [name, layer] : base->dit().heavy_layers()) {
      const at::NoGradGuard no_gradients;
      if (!layer->quantized) continue;  // of a size that the format cannot have
      auto& weight = layers.at(name)->weight;
      weight.copy_(kernels::dequantize(*layer->quantized, at::kFloat).view_as(weight));
    }
    const auto before = velocity_of(base->dit());
    const auto adapter = acestep::attach_adapter(base->dit(), read);
    const auto same = acestep::attach_adapter(restored->dit(), read);
    const auto wanted = velocity_of(restored->dit());
    CHECK(distance(velocity_of(base->dit()), before) > 1e-2 * wanted.abs().max().item<double>());
    CAPTURE(to_string(format));
    CHECK(test::relative_distance(velocity_of(base->dit()), wanted) < 1e-4);
  }
}

TEST_CASE("adapter files: one for another model is refused with the shapes that differ") {
  const Adapted adapted;
  acestep::write_original_adapter(*adapted.model, adapted.file("out"), false);
  auto networks = test::smallest_networks();
  networks.transformer.heads = 4;
  acestep::Dit other(networks.transformer);
  CHECK_THROWS_WITH_AS(acestep::attach_adapter(other, acestep::read_adapter(adapted.file("out"))),
                       doctest::Contains("is for 32x32, the model has 64x64"), Error);
  networks.transformer.heads = 2;
  networks.transformer.layers = 1;
  acestep::Dit shorter(networks.transformer);
  CHECK_THROWS_WITH_AS(acestep::attach_adapter(shorter, acestep::read_adapter(adapted.file("out"))),
                       doctest::Contains("transformer_blocks.1.attn.to_k is no layer of it"),
                       Error);
}

TEST_CASE("adapter files: layers that no pass reads are left out; broken files are named") {
  const Adapted adapted;
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return at::ones({rows, columns});
  };
  const auto write = [&](const std::string& name,
                         const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    std::vector<io::TensorData> data;
    for (const auto& [key, tensor] : tensors) {
      data.push_back({key, DType::F32, tensor.sizes().vec(), engine::bytes_of(tensor)});
    }
    io::write_safetensors(adapted.file(name), data);
    return adapted.file(name);
  };
  const std::string q = "transformer_blocks.0.attn.to_q",
                    dead = "transformer_blocks.0.cross_attn.add_q_proj";
  const auto with_dead = write("dead.safetensors", {{q + ".lora_A.weight", matrix(2, 32)},
                                                    {q + ".lora_B.weight", matrix(32, 2)},
                                                    {dead + ".lora_A.weight", matrix(2, 32)},
                                                    {dead + ".lora_B.weight", matrix(32, 2)}});
  auto base = acestep::read_transformer(adapted.folder.path());
  CHECK(acestep::attach_adapter(base->dit(), acestep::read_adapter(with_dead))->layers() ==
        std::vector<std::string>{q});
  CHECK_THROWS_WITH_AS(
      acestep::read_adapter(write("half.safetensors", {{q + ".lora_A.weight", matrix(2, 32)}})),
      doctest::Contains("no pair of matrices"), Error);
  CHECK_THROWS_WITH_AS(
      acestep::read_adapter(write("ranks.safetensors", {{q + ".lora_A.weight", matrix(2, 32)},
                                                        {q + ".lora_B.weight", matrix(32, 2)},
                                                        {dead + ".lora_A.weight", matrix(3, 32)},
                                                        {dead + ".lora_B.weight", matrix(32, 3)}})),
      doctest::Contains("ranks differ"), Error);
  CHECK_THROWS_WITH_AS(
      acestep::read_adapter(write("other.safetensors", {{"a.weight", matrix(2, 2)}})),
      doctest::Contains("is no part of a LoRA adapter"), Error);
  CHECK_THROWS_WITH_AS(acestep::read_adapter(adapted.folder.path()),
                       doctest::Contains("holds no adapter"), Error);
  CHECK_THROWS_WITH_AS(acestep::read_adapter(adapted.file("missing")),
                       doctest::Contains("does not exist"), Error);
}

TEST_CASE("adapter files: a checkpoint holds the adapter alone and opens with its base") {
  const Adapted adapted;
  const auto wanted = velocity_of(adapted.model->dit());
  engine::Checkpoint checkpoint;
  checkpoint.family = "acestep";
  checkpoint.config = adapted.model->config();
  checkpoint.provenance = Json::object();
  checkpoint.model = engine::state_dict(adapted.model->network());
  engine::save_checkpoint(adapted.file("saved"), checkpoint);
  CHECK(checkpoint.model.size() == adapted.model->adapter()->parameters().size());
  auto parts = acestep::open_parts(acestep::find_model(adapted.file("saved")),
                                   c10::Device(c10::kCPU), at::kFloat);
  CHECK(distance(velocity_of(parts.transformer()), wanted) < 1e-5);
  const auto read = acestep::read_adapter(adapted.file("saved"));
  CHECK(read.options.scale() == 2);
  // Its base was moved away.
  std::filesystem::rename(adapted.folder.path(), adapted.file("elsewhere"));
  CHECK_THROWS_AS(engine::open_model(adapted.file("saved"), "acestep"), Error);
}

TEST_CASE("model folders: a merged adapter is in the weights, the other parts are copied") {
  const Adapted adapted;
  const auto wanted = velocity_of(adapted.model->dit());
  acestep::write_model_folder(*adapted.model, adapted.file("merged"), "");
  const auto merged = acestep::read_transformer(adapted.file("merged"));
  CHECK(distance(velocity_of(merged->dit()), wanted) < 1e-5);
  const auto folder = acestep::read_model_folder(adapted.file("merged"));
  for (const auto part :
       {acestep::Part::Dcae, acestep::Part::Vocoder, acestep::Part::TextEncoder}) {
    const auto base = acestep::read_model_folder(adapted.folder.path()).weights(part);
    CHECK(read_file(folder.weights(part)) == read_file(base));
  }
  const Adapted again;
  acestep::write_model_folder(*again.model, again.file("half"), "float16");
  const auto half = acestep::read_transformer(again.file("half"), {.as_stored = true});
  CHECK((half->dit().weights().text.bias.scalar_type() == at::kHalf));
  CHECK_THROWS_AS(acestep::write_model_folder(*again.model, again.file("x"), "int7"), Error);
}
