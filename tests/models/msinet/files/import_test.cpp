// SPDX-License-Identifier: Apache-2.0
// Weight files of other systems: Keras, pretrained VGG16 encoders, and files to refuse.
#include <algorithm>

#include "tests/base/scratch.h"
#include "tests/io/torch/pickle_samples.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/msinet/files/import_layers.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/net/model.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

/// torchvision's numbers of the 13 convolutions, in our order.
constexpr std::array<int, 13> kTorchvision = {0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28};

MsiNetConfig vgg_config() { return widened(preset("msinet"), 1.0 / 16); }

/// The encoder of a small VGG16, as torchvision would name it.
std::vector<io::HostTensor> torchvision_tensors(const engine::NamedTensors& state) {
  std::vector<io::HostTensor> tensors;
  for (std::size_t i = 0; i < 13; ++i) {
    const auto prefix = fmt::format("features.{}.", kTorchvision[i]);
    tensors.push_back(engine::host_tensor_of(prefix + "weight", state[2 * i].second));
    tensors.push_back(engine::host_tensor_of(prefix + "bias", state[2 * i + 1].second));
  }
  tensors.push_back(engine::host_tensor_of("classifier.0.weight", at::ones({4, 4})));
  return tensors;
}

void write_as_safetensors(const std::filesystem::path& path,
                          const std::vector<io::HostTensor>& tensors) {
  std::vector<io::TensorData> data;
  for (const auto& tensor : tensors) {
    data.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes});
  }
  io::write_safetensors(path, data);
}

/// The form that torch.save wrote before PyTorch 1.6, in which torchvision's file still comes.
void write_as_legacy_torch(const std::filesystem::path& path,
                           const std::vector<io::HostTensor>& tensors) {
  pickled::Pairs state;
  std::vector<pickled::LegacyStorage> storages;
  for (const auto& tensor : tensors) {
    const auto count = static_cast<std::int64_t>(tensor.bytes.size() / sizeof(float));
    const auto key = std::to_string(storages.size());
    std::vector<std::int64_t> strides(tensor.shape.size(), 1);
    for (std::size_t i = strides.size() - 1; i-- > 0;) {
      strides[i] = strides[i + 1] * tensor.shape[i + 1];
    }
    const auto storage = pickled::legacy_storage("FloatStorage", key, count);
    state.emplace_back(pickled::text(tensor.name),
                       pickled::tensor(storage, 0, tensor.shape, strides));
    const auto* bytes = reinterpret_cast<const char*>(tensor.bytes.data());
    storages.push_back({count, {bytes, tensor.bytes.size()}});
  }
  write_file(path, pickled::legacy(pickled::ordered_dict(state), storages));
}

std::string refused(const std::filesystem::path& path) {
  return refusal_of(ErrorKind::Input, [&] { load_any(path); });
}

/// Kernels as (H, W, I, O) under other names.
std::vector<io::HostTensor> keras_named(const MsiNetFile& file,
                                        const std::function<std::string(std::size_t)>& layer,
                                        const std::string& kernel, const std::string& bias) {
  std::vector<io::HostTensor> tensors;
  for (std::size_t i = 0; i < file.tensors.size(); i += 2) {
    const auto weight = file.tensors[i].second.permute({2, 3, 1, 0});
    tensors.push_back(engine::host_tensor_of(layer(i / 2) + kernel, weight));
    tensors.push_back(engine::host_tensor_of(layer(i / 2) + bias, file.tensors[i + 1].second));
  }
  return tensors;
}

}  // namespace

TEST_CASE("golden: Keras files of all four layouts are the same network, and give its map") {
  const auto folder = shared_folder("golden/msinet/keras");
  if (folder.empty()) return;
  const auto expected = by_name(read_tensors(folder / "expected.safetensors"));
  for (const auto* name : {"subclassed_keras3.weights.h5", "functional_keras3.weights.h5",
                           "legacy_keras2_tfkeras.weights.h5", "legacy_keras2.h5"}) {
    INFO(name);
    CHECK(looks_like_msinet(folder / name));
    const auto file = load_any(folder / name);
    CHECK(file.config.upsample == Upsample::HalfPixel);
    CHECK(file.config.encoder[0].widths == std::vector<std::int64_t>{4, 4});
    CHECK(file.tensors.size() == 46);
    for (const auto& layer : layers_of(file.config)) {
      const auto weight = engine::find_tensor(file.tensors, layer.scope(".") + ".weight");
      const auto bias = engine::find_tensor(file.tensors, layer.scope(".") + ".bias");
      CHECK(weight.permute({2, 3, 1, 0}).equal(expected.at(layer.scope("_") + "/kernel")));
      CHECK(bias.equal(expected.at(layer.scope("_") + "/bias")));
    }
    MsiNetModel model(file);
    const at::NoGradGuard no_gradients;
    const auto picture = expected.at("image_uint8").permute({2, 0, 1}).unsqueeze(0);
    const auto taps = model.msinet().forward_taps(picture);
    const auto& decoder = expected.at("decoder_half_pixel");
    CHECK(relative_distance(taps.decoder[0].permute({1, 2, 0}), decoder) < 1e-5);
    CHECK(distance(taps.map[0].permute({1, 2, 0}), expected.at("map_half_pixel")) < 1e-5);
  }
}

TEST_CASE("golden: a Keras file written by us holds what Keras's own does") {
  const auto folder = shared_folder("golden/msinet/keras");
  if (folder.empty()) return;
  const ScratchFolder scratch;
  const auto theirs = folder / "subclassed_keras3.weights.h5";
  export_checked(load_any(theirs), "h5", scratch / "model_salicon_cpu.weights.h5");
  const io::Hdf5File first(theirs), second(scratch / "model_salicon_cpu.weights.h5");
  REQUIRE(first.tensors().size() == second.tensors().size());
  for (const auto& tensor : first.tensors()) {
    const auto* other = second.find(tensor.name);
    REQUIRE(other != nullptr);
    CHECK((first.read(tensor).bytes == second.read(*other).bytes));
  }
  CHECK(first.texts("conv1_conv1_1/vars", "name") == second.texts("conv1_conv1_1/vars", "name"));
}

TEST_CASE("import: unnamed Keras layers of the small network are known by their numbers") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  const auto depth = names_in_keras_order(17);
  const auto layers = layers_of(file.config);
  const auto numbered = [&](std::size_t i) {
    const auto position = std::find(depth.begin(), depth.end(), layers[i].scope("_"));
    return fmt::format("layers/conv2d_{}", 40 + (position - depth.begin()));
  };
  io::write_hdf5(folder / "n.weights.h5", keras_named(file, numbered, "/vars/0", "/vars/1"));
  const auto back = load_any(folder / "n.weights.h5");
  CHECK(same_bits(back.tensors, file.tensors));
  CHECK(depth[8] == "aspp_conv1_5");
  CHECK(depth[9] == "aspp_conv1_1");
}

TEST_CASE("import: torchvision's VGG16 as encoder, its scale folded into the first kernels") {
  const ScratchFolder folder;
  const auto state = golden_state(vgg_config(), 3);
  const auto tensors = torchvision_tensors(state);
  io::write_torch_file(folder / "vgg.pth", tensors);
  io::write_torch_file(folder / "nested.pth", tensors, "state_dict");
  write_as_safetensors(folder / "vgg.safetensors", tensors);
  write_as_legacy_torch(folder / "vgg16-397923af.pth", tensors);
  for (const auto* name : {"vgg.pth", "nested.pth", "vgg.safetensors", "vgg16-397923af.pth"}) {
    INFO(name);
    CHECK(looks_like_msinet(folder / name));
    const auto file = load_any(folder / name);
    CHECK(file.encoder_only);
    CHECK(file.tensors.size() == 26);
    CHECK(file.config.preprocessing == preprocessing_variant("torchvision"));
    CHECK(file.config.upsample == Upsample::Legacy);
    CHECK(file.tensors[2].second.equal(state[2].second));

    const auto pixels = random_picture({1, 3, 8, 8}, 1).to(at::kDouble);
    auto theirs = pixels / 255, ours = pixels.clone();
    const std::array<double, 3> mean = {0.485, 0.456, 0.406}, deviation = {0.229, 0.224, 0.225};
    for (std::int64_t c = 0; c < 3; ++c) {
      const auto i = static_cast<std::size_t>(c);
      theirs.select(1, c).sub_(mean[i]).div_(deviation[i]);
      ours.select(1, c).sub_(file.config.preprocessing.means[i]);
    }
    const auto folded = at::conv2d(ours, file.tensors[0].second.to(at::kDouble), {}, 1, 1);
    const auto plain = at::conv2d(theirs, state[0].second.to(at::kDouble), {}, 1, 1);
    CHECK(relative_distance(folded, plain) < 1e-6);
  }
}

TEST_CASE("import: layers missing from an encoder are initialised by the seed alone") {
  const ScratchFolder folder;
  io::write_torch_file(folder / "vgg.pth", torchvision_tensors(golden_state(vgg_config(), 3)));
  const auto file = load_any(folder / "vgg.pth");
  const auto first = MsiNetModel(file, Random(1)).file();
  CHECK(same_bits(first.tensors, MsiNetModel(file, Random(1)).file().tensors));
  CHECK_FALSE(same_bits(first.tensors, MsiNetModel(file, Random(2)).file().tensors));
  CHECK(engine::find_tensor(first.tensors, "conv5.conv5_3.weight")
            .equal(engine::find_tensor(file.tensors, "conv5.conv5_3.weight")));
  CHECK(engine::find_tensor(first.tensors, "aspp.conv2.weight").abs().max().item<double>() > 0);
}

TEST_CASE("import: Keras's VGG16 has its colour channels reversed") {
  const ScratchFolder folder;
  auto file = golden_file(vgg_config());
  file.tensors.resize(26);
  const auto layers = layers_of(file.config);
  const auto block = [&](std::size_t i) {
    const auto& name = layers[i].name;  // conv1_2
    return fmt::format("block{}_conv{}", name[4], name[6]);
  };
  const auto twice = [&](std::size_t i) { return block(i) + "/" + block(i); };
  io::write_hdf5(folder / "a.h5", keras_named(file, twice, "/kernel:0", "/bias:0"));
  const auto old = [&](std::size_t i) { return block(i) + "/" + block(i); };
  io::write_hdf5(folder / "b.h5", keras_named(file, old, "_W_1:0", "_b_1:0"));
  for (const auto* name : {"a.h5", "b.h5"}) {
    INFO(name);
    const auto back = load_any(folder / name);
    CHECK(back.encoder_only);
    CHECK(back.config.preprocessing == preprocessing_variant("caffe"));
    CHECK(back.tensors[0].second.flip({1}).equal(file.tensors[0].second));
    CHECK(back.tensors[2].second.equal(file.tensors[2].second));
  }
}

TEST_CASE("import: the original's pretrained VGG16, under its plain names") {
  const ScratchFolder folder;
  auto file = golden_file(vgg_config());
  file.tensors.resize(26);
  const auto layers = layers_of(file.config);
  const auto plain = [&](std::size_t i) { return layers[i].name; };
  io::write_npz(folder / "vgg16_hybrid.npz", keras_named(file, plain, "/weights", "/biases"));
  const auto back = load_any(folder / "vgg16_hybrid.npz");
  CHECK(back.encoder_only);
  CHECK(same_bits(back.tensors, file.tensors));
  CHECK(back.config.preprocessing == Preprocessing());
}

TEST_CASE("import: another network's file is refused with names and shapes") {
  const ScratchFolder folder;
  const auto tensor = [](const std::string& name, at::IntArrayRef shape) {
    return engine::host_tensor_of(name, at::zeros(shape));
  };
  io::write_hdf5(folder / "dense.h5", std::vector{tensor("dense/dense/kernel:0", {10, 7})});
  auto text = refused(folder / "dense.h5");
  CHECK(contains(text, "dense/kernel"));
  CHECK(contains(text, "[10, 7]"));
  CHECK_FALSE(looks_like_msinet(folder / "dense.h5"));

  io::write_npz(folder / "odd.npz", std::vector{tensor("conv1/conv1_1/kernel", {3, 3, 3, 8})});
  text = refused(folder / "odd.npz");
  CHECK(contains(text, "conv1_conv1_1 [8, 3, 3, 3]"));
  CHECK(contains(text, "conv1/conv1_2 is missing"));

  io::write_torch_file(folder / "vgg16_bn.pth",
                       std::vector{tensor("features.0.weight", {4, 3, 3, 3}),
                                   tensor("features.1.running_mean", {4})});
  CHECK(contains(refused(folder / "vgg16_bn.pth"), "features.1.running_mean"));

  std::vector<io::HostTensor> numbered;
  for (int i = 0; i < 5; ++i) {
    const auto group = fmt::format("layers/conv2d_{}/vars/", i);
    numbered.push_back(tensor(group + "0", {3, 3, 3, 3}));
    numbered.push_back(tensor(group + "1", {3}));
  }
  io::write_hdf5(folder / "five.weights.h5", numbered);
  CHECK(contains(refused(folder / "five.weights.h5"), "got 5 convolutions without names"));

  write_file(folder / "text.h5", "hello");
  CHECK(contains(refused(folder / "text.h5"), "unknown kind"));
  CHECK(contains(refused(folder / "nothing.h5"), "is not a file"));
}

TEST_CASE("import: layers that do not fit each other are refused with both shapes") {
  const ScratchFolder folder;
  auto file = golden_file(tiny_config());
  file.tensors[4].second = at::zeros({8, 5, 3, 3});  // conv2_1 takes four
  export_safetensors(file, folder / "a.safetensors");
  auto text = refused(folder / "a.safetensors");
  CHECK(contains(text, "conv2.conv2_1.weight"));
  CHECK(contains(text, "got [8, 5, 3, 3], expected [8, 4, 3, 3]"));
  file = golden_file(tiny_config());
  file.tensors[1].second = at::zeros({1, 1, 1, 1});
  export_safetensors(file, folder / "b.safetensors");
  CHECK(contains(refused(folder / "b.safetensors"), "is not a bias"));
}

TEST_CASE("import: a name of a million characters is refused, not parsed for ever") {
  const ScratchFolder folder;
  for (const auto* part : {"a", "/", "conv1_", "fc1", "Adam"}) {
    std::string name;
    while (name.size() < 1'000'000) name += part;
    write_as_safetensors(folder / "x.safetensors",
                         {engine::host_tensor_of(name + "/kernel", at::ones({3, 3, 3, 4}))});
    const auto message = refusal_of(ErrorKind::Input, [&] { load_any(folder / "x.safetensors"); });
    CHECK(message.size() < 1000);
  }
}
