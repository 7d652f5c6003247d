// SPDX-License-Identifier: Apache-2.0
// Weight files that we write: bit-exact when read back, under the names of their systems.
#include "ubique/models/msinet/files/weight_files.h"

#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/net/model.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

MsiNetConfig unusual_config() {
  auto config = tiny_config();
  config.aspp_dilations = {3, 5};  // not those of a preset: the file must store them
  config.upsample = Upsample::HalfPixel;
  config.preprocessing = preprocessing_variant("caffe");
  config.dataset = "osie";
  config.device = "metal";
  return config;
}

}  // namespace

TEST_CASE("weights: safetensors and Keras files come back bit by bit, configuration included") {
  const ScratchFolder folder;
  const auto file = golden_file(unusual_config());
  export_checked(file, "safetensors", folder / "a.safetensors");
  export_checked(file, "h5", folder / "a.weights.h5");
  for (const auto* name : {"a.safetensors", "a.weights.h5"}) {
    INFO(name);
    const auto back = load_any(folder / name);
    CHECK(same_bits(back.tensors, file.tensors));
    CHECK((back.config == file.config));
    CHECK_FALSE(back.encoder_only);
    CHECK(looks_like_msinet(folder / name));
  }
}

TEST_CASE("weights: TensorFlow 1's names mean the original's upsampling mode") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  export_checked(file, "npz", folder / "model_cat2000_gpu.npz");
  auto tensors = io::read_npz(folder / "model_cat2000_gpu.npz");
  CHECK(io::find_tensor(tensors, "conv1/conv1_1/kernel")->shape == io::Shape{3, 3, 3, 4});
  CHECK(io::find_tensor(tensors, "decoder/conv3/bias")->shape == io::Shape{1});
  auto slot = *io::find_tensor(tensors, "aspp/conv2/kernel");  // as a checkpoint has them beside
  slot.name = "aspp/conv2/kernel/Adam_1";
  tensors.push_back(slot);
  slot = {"beta1_power", DType::F32, {}, std::vector<std::byte>(4)};
  tensors.push_back(slot);
  io::write_npz(folder / "model_cat2000_cpu.npz", tensors);
  for (const auto* name : {"model_cat2000_gpu.npz", "model_cat2000_cpu.npz"}) {
    const auto back = load_any(folder / name);
    CHECK(same_bits(back.tensors, file.tensors));
    CHECK(back.config.upsample == Upsample::Legacy);
    CHECK(back.config.preprocessing == Preprocessing());
    CHECK(back.config.dataset == "cat2000");
    CHECK((back.config.size == std::array<std::int64_t, 2>{216, 384}));
  }
}

TEST_CASE("weights: a Keras file has Keras 3's paths for a subclassed model") {
  const ScratchFolder folder;
  export_keras(golden_file(tiny_config()), folder / "m.weights.h5");
  const io::Hdf5File file(folder / "m.weights.h5");
  CHECK(file.tensors().size() == 34);
  REQUIRE(file.find("conv1_conv1_1/vars/0") != nullptr);
  CHECK(file.find("conv1_conv1_1/vars/0")->shape == io::Shape{3, 3, 3, 4});
  CHECK(file.find("aspp_conv1_5/vars/1")->shape == io::Shape{16});
  CHECK(file.texts("decoder_conv3/vars", "name") == std::vector<std::string>{"decoder_conv3"});
}

TEST_CASE("weights: a network in channels last writes the same bytes, and its map is the same") {
  const ScratchFolder folder;
  const auto file = golden_file(tiny_config());
  MsiNetModel first(file), last(file);
  last.msinet().set_channels_last(true);
  const at::NoGradGuard no_gradients;
  for (auto& parameter : last.network().parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.detach().contiguous(at::MemoryFormat::ChannelsLast));
  }
  export_keras(first.file(), folder / "first.h5");
  export_keras(last.file(), folder / "last.h5");
  CHECK(read_file(folder / "first.h5") == read_file(folder / "last.h5"));
  const auto picture = random_picture({1, 3, 24, 32}, 8);
  CHECK(distance(first.msinet().forward(picture), last.msinet().forward(picture)) < 1e-5);
}

TEST_CASE("weights: what exists is not written over, and what lacks a layer is not written") {
  const ScratchFolder folder;
  auto file = golden_file(tiny_config());
  write_file(folder / "a.h5", "mine");
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { export_checked(file, "h5", folder / "a.h5"); }),
                 "exists already"));
  CHECK(read_file(folder / "a.h5") == "mine");
  file.tensors.pop_back();
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { export_checked(file, "h5", folder / "b.h5"); }),
                 "decoder.conv3.bias"));
  CHECK_FALSE(std::filesystem::exists(folder / "b.h5"));
  // safetensors is written as it is; only reading it back finds the missing tensor.
  CHECK(error_of([&] { export_checked(file, "safetensors", folder / "c.safetensors"); }) !=
        "no error");
  CHECK_FALSE(std::filesystem::exists(folder / "c.safetensors"));
}

TEST_CASE("weights: file names hold data set and device; another device's file is found too") {
  CHECK(weight_file_name("salicon", "gpu") == "model_salicon_gpu.weights.h5");
  CHECK(read_weight_file_name("x/model_my_set_metal.weights.h5")->dataset == "my_set");
  CHECK(read_weight_file_name("x/model_my_set_metal.ckpt.index")->device == "metal");
  CHECK_FALSE(read_weight_file_name("model_salicon.weights.h5").has_value());
  CHECK_FALSE(read_weight_file_name("net.h5").has_value());
  const ScratchFolder folder;
  CHECK_FALSE(find_weight_file(folder.path(), "osie", "gpu").has_value());
  CHECK_FALSE(find_weight_file(folder / "none", "osie", "gpu").has_value());
  for (const auto* name : {"model_osie_metal.weights.h5", "model_osie_cpu.weights.h5",
                           "model_salicon_gpu.weights.h5", "model_osie_gpu.ckpt"}) {
    write_file(folder / name, "");
  }
  CHECK(find_weight_file(folder.path(), "osie", "metal")->device == "metal");
  CHECK(find_weight_file(folder.path(), "osie", "gpu")->device == "cpu");
}

TEST_CASE("weights: a checkpoint is opened as the model that it was") {
  const ScratchFolder folder;
  const auto file = golden_file(unusual_config());
  export_checked(file, "checkpoint", folder / "c");
  const auto model = engine::open_model(folder / "c", "msinet");
  const auto back = dynamic_cast<MsiNetModel&>(*model).file();
  CHECK(same_bits(back.tensors, file.tensors));
  CHECK((back.config == file.config));
}
