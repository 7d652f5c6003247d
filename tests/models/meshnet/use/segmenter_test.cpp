// SPDX-License-Identifier: Apache-2.0
// Inference in every mode against the network in eval mode and against golden values.
#include "ubique/models/meshnet/use/segmenter.h"

#include "tests/base/scratch.h"
#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/models/meshnet/files/import.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

MeshNetFile random_file(const MeshNetConfig& config) {
  return {config, state_of(*random_network(config)), "test"};
}

at::Tensor eval_logits_of(const MeshNetFile& file, const at::Tensor& image) {
  MeshNet network(file.config);
  load_state(network, file.tensors);
  network.eval();
  const at::NoGradGuard no_gradients;
  return network.forward(image.view({1, 1, image.size(0), image.size(1), image.size(2)}))[0];
}

SegmenterOptions in_mode(SegmenterMode mode) {
  SegmenterOptions options;
  options.mode = mode;
  return options;
}

MeshNetConfig shallow(Activation activation = Activation::Relu) {
  auto config = preset("meshnet-5");
  config.classes = 3;
  config.dilations = {1, 2, 4, 3};
  config.activation = activation;
  return config;
}

/// (D, H, W) with the first array axis first, as the network takes it.
at::Tensor read_volume(const std::filesystem::path& path) {
  const auto image = io::read_nifti(path);
  auto values = io::to_f32(image);
  const auto& shape = image.header.shape;
  return at::from_blob(values.data(), {shape[2], shape[1], shape[0]}, at::kFloat)
      .permute({2, 1, 0})
      .contiguous();
}

void check_brainchop(const std::string& name, const at::Tensor& input) {
  const auto models = shared_folder("data/brainchop/models");
  const auto golden = shared_folder("golden/meshnet/brainchop");
  Segmenter segmenter(load_any(models / name));
  const auto labels = segmenter.labels(input);
  const auto expected = read_volume(golden / (name + "_argmax.nii.gz")).to(at::kByte);
  const auto differing = labels.ne(expected).sum().item<std::int64_t>();
  INFO(name << ": " << differing << " voxels differ");
  CHECK(differing <= 50);
}

}  // namespace

TEST_CASE("segmenter: whole and streamed logits are the network's, for every activation") {
  const auto image = random_tensor({11, 9, 21}, 8);
  for (const auto activation :
       {Activation::Relu, Activation::Elu, Activation::Gelu, Activation::GeluTanh}) {
    const auto file = random_file(shallow(activation));
    const auto expected = eval_logits_of(file, image);
    for (const auto mode : {SegmenterMode::Auto, SegmenterMode::Whole, SegmenterMode::Stream}) {
      Segmenter segmenter(file, in_mode(mode));
      INFO(kernels::to_string(activation) << ", mode " << static_cast<int>(mode));
      CHECK(relative_distance(segmenter.logits(image), expected) < 1e-5);
      CHECK(at::equal(segmenter.labels(image), segmenter.logits(image).argmax(0).to(at::kByte)));
      CHECK(distance(segmenter.probabilities(image), expected.softmax(0)) < 1e-5);
      CHECK(distance(segmenter.probability(image, 2), expected.softmax(0)[2]) < 1e-5);
    }
  }
}

TEST_CASE("segmenter: slabs of any number of planes give the whole volume's numbers") {
  const auto file = random_file(shallow());
  const auto image = random_tensor({13, 6, 7}, 8);
  SegmenterOptions options = in_mode(SegmenterMode::Stream);
  options.dtype = at::kBFloat16;  // not the host's f32 streaming
  auto whole = options;
  whole.mode = SegmenterMode::Whole;
  const auto expected = Segmenter(file, whole).logits(image);
  for (const std::int64_t limit : {0, 1, 200000}) {
    options.memory_limit = limit;
    CHECK(relative_distance(Segmenter(file, options).logits(image), expected) < 0.02);
  }
}

TEST_CASE("segmenter: volumes thinner than the dilations, and of one voxel") {
  const auto file = random_file(shallow());
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{1, 1, 1}, {2, 1, 3}, {1, 17, 2}, {3, 2, 70}}) {
    const auto image = random_tensor(shape, 8);
    const auto expected = eval_logits_of(file, image);
    for (const auto mode : {SegmenterMode::Auto, SegmenterMode::Whole}) {
      CHECK(relative_distance(Segmenter(file, in_mode(mode)).logits(image), expected) < 1e-5);
    }
  }
}

TEST_CASE("segmenter: one segmenter serves volumes of different shapes in turn") {
  const auto file = random_file(shallow());
  Segmenter segmenter(file);
  for (const std::int64_t size : {9, 14, 9}) {
    const auto image = random_tensor({size, size + 1, size + 2}, static_cast<std::uint64_t>(size));
    CHECK(relative_distance(segmenter.logits(image), eval_logits_of(file, image)) < 1e-5);
  }
}

TEST_CASE("segmenter: padding, channels-last and half precision") {
  const auto file = random_file(shallow());
  const auto image = random_tensor({10, 9, 12}, 8);
  const auto expected = eval_logits_of(file, image);
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t pad : {1, 8}) {
      for (const bool last : {false, true}) {
        SegmenterOptions options = in_mode(SegmenterMode::Whole);
        options.dtype = dtype;
        options.pad_channels_to = pad;
        options.channels_last = last;
        const auto tolerance = dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 0.01 : 0.05;
        CHECK(relative_distance(Segmenter(file, options).logits(image), expected) < tolerance);
      }
    }
  }
}

TEST_CASE("segmenter: instance norms run whole and cannot be streamed") {
  auto config = shallow(Activation::Gelu);
  config.norm = Norm::Instance;
  for (const bool bias : {false, true}) {
    config.bias = bias;
    const auto file = random_file(config);
    const auto image = random_tensor({10, 9, 12}, 8);
    CHECK(relative_distance(Segmenter(file).logits(image), eval_logits_of(file, image)) < 1e-5);
  }
  CHECK(
      contains(refusal_of(ErrorKind::Usage,
                          [&] { Segmenter(random_file(config), in_mode(SegmenterMode::Stream)); }),
               "instance norms"));
}

TEST_CASE("segmenter: non-finite values are an error, and a memory limit makes it stream") {
  const auto file = random_file(shallow());
  auto image = random_tensor({10, 9, 12}, 8);
  image[4][3][5] = NAN;
  for (const auto mode : {SegmenterMode::Auto, SegmenterMode::Whole}) {
    Segmenter segmenter(file, in_mode(mode));
    CHECK(contains(refusal_of(ErrorKind::Input, [&] { segmenter.labels(image); }), "NaN"));
  }
  SegmenterOptions options;
  options.dtype = at::kHalf;
  options.memory_limit = 100;
  Segmenter small(file, options);
  options.memory_limit = 0;
  Segmenter large(file, options);
  CHECK(small.activation_bytes(256, 16, 16) < large.activation_bytes(256, 16, 16));
  auto loud = random_tensor({10, 9, 12}, 8) * 1e6;
  CHECK(contains(refusal_of(ErrorKind::Device, [&] { large.labels(loud); }), "--dtype f32"));
}

TEST_CASE("segmenter: MeshNet-26 streams a volume of 256³ in less than 1.5 GiB") {
  Segmenter segmenter(random_file(preset("meshnet-26")), in_mode(SegmenterMode::Stream));
  CHECK(segmenter.activation_bytes(256, 256, 256) < 1LL << 30);
}

TEST_CASE("segmenter: input of another kind is refused") {
  Segmenter segmenter(random_file(shallow()));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [&] {
                              segmenter.labels(at::zeros({2, 3, 4, 5}));
                            }),
                 "[2, 3, 4, 5]"));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [&] {
                              segmenter.labels(at::zeros({3, 4, 5}, at::kByte));
                            }),
                 "Byte"));
  CHECK(contains(refusal_of(ErrorKind::Usage,
                            [&] {
                              segmenter.probability(at::zeros({3, 4, 5}), 3);
                            }),
                 "0 to 2"));
}

TEST_CASE("segmenter: goldens of arc-meshchop in eval mode") {
  const auto folder = shared_folder("golden/meshnet");
  if (folder.empty()) return;
  for (const std::string name : {"meshnet5", "meshnet_c3"}) {
    const auto io = by_name(read_tensors(folder / (name + "_io.safetensors")));
    MeshNetConfig config;
    config.channels = name == "meshnet5" ? 5 : 3;
    const MeshNetFile file{config, read_tensors(folder / (name + "_state.safetensors")), "golden"};
    for (const auto mode : {SegmenterMode::Auto, SegmenterMode::Whole}) {
      Segmenter segmenter(file, in_mode(mode));
      CHECK(distance(segmenter.logits(io.at("x0")), io.at("eval_logits_x0")[0]) < 5e-6);
    }
  }
}

TEST_CASE("segmenter: BrainChop's model5_gw_ae labels a real scan as BrainChop does") {
  const auto data = shared_folder("data/brainchop");
  if (data.empty() || shared_folder("golden/meshnet/brainchop").empty()) return;
  const auto scan = read_volume(data / "t1_crop.nii.gz");
  check_brainchop("model5_gw_ae", (scan - scan.min()) / (scan.max() - scan.min()));
}

TEST_CASE("segmenter: BrainChop's model20chan3cls on the middle of a real scan") {
  // The whole scan takes a minute; a block with the receptive field around it has the same logits.
  const auto data = shared_folder("data/brainchop");
  const auto golden = shared_folder("golden/meshnet/brainchop");
  if (data.empty() || golden.empty()) return;
  const auto scan = read_volume(data / "t1_crop.nii.gz");
  Segmenter segmenter(load_any(data / "models/model20chan3cls"));
  const auto reach = segmenter.config().receptive_field() / 2;
  const auto first = 120 - reach, size = 16 + 2 * reach;
  auto block = scan / 112;  // quantiles 5 % and 95 % of this scan are 0 and 112
  for (int axis = 0; axis < 3; ++axis) block = block.narrow(axis, first, size);
  auto logits = segmenter.logits(block.contiguous());
  for (int axis = 1; axis < 4; ++axis) logits = logits.narrow(axis, reach, 16);
  const auto expected = by_name(read_tensors(golden / "model20chan3cls_block.safetensors"));
  CHECK(distance(logits, expected.at("logits_block")) < 2e-4);
}
