// SPDX-License-Identifier: Apache-2.0
// A file is assigned to a family by its tensor names; an unknown file is refused with its contents.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/export/samples.h"
#include "ubique/engine/contract/family.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/meshnet/files/export.h"

using namespace ubique;
using test::contains;
using test::ScratchFolder;

namespace {

std::vector<std::string> claimed_by(const std::filesystem::path& path) {
  std::vector<std::string> names;
  for (const auto* family : engine::families()) {
    if (family->recognizes(path)) names.push_back(family->name());
  }
  return names;
}

using Names = std::vector<std::string>;

io::HostTensor zeros(const std::string& name, at::IntArrayRef shape) {
  return engine::host_tensor_of(name, at::zeros(shape));
}

/// A VGG16's layers as torchvision numbers them, with few channels.
std::vector<io::HostTensor> vgg_tensors() {
  std::vector<io::HostTensor> tensors;
  for (const int i : {0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28}) {
    tensors.push_back(zeros(fmt::format("features.{}.weight", i), {3, 3, 3, 3}));
    tensors.push_back(zeros(fmt::format("features.{}.bias", i), {3}));
  }
  tensors.push_back(zeros("classifier.0.weight", {5, 3}));
  return tensors;
}

}  // namespace

TEST_CASE("recognise: PyTorch's files belong to the family whose layers they name") {
  const ScratchFolder folder;
  io::write_torch_file(folder / "vgg16.pth", vgg_tensors());
  io::write_torch_file(folder / "nested.pth", vgg_tensors(), "state_dict");
  const auto file =
      test::random_file(test::small_config(meshnet::Activation::Relu, meshnet::Norm::Batch));
  meshnet::export_torch(file, folder / "mesh.pt");
  meshnet::export_safetensors(file, folder / "mesh.safetensors");
  CHECK(claimed_by(folder / "vgg16.pth") == Names{"msinet"});
  CHECK(claimed_by(folder / "nested.pth") == Names{"msinet"});
  CHECK(claimed_by(folder / "mesh.pt") == Names{"meshnet"});
  CHECK(claimed_by(folder / "mesh.safetensors") == Names{"meshnet"});
  CHECK(engine::open_model(folder / "vgg16.pth")->family() == "msinet");
  CHECK(engine::open_model(folder / "mesh.pt")->family() == "meshnet");
}

TEST_CASE("recognise: an unknown file is refused with its names and shapes") {
  const ScratchFolder folder;
  const auto refused = [&](const char* name) {
    CHECK(claimed_by(folder / name).empty());
    return test::refusal_of(ErrorKind::Input, [&] { engine::open_model(folder / name); });
  };
  const std::vector<io::HostTensor> resnet = {zeros("conv1.weight", {64, 3, 7, 7}),
                                              zeros("layer1.0.bn1.weight", {64})};
  io::write_torch_file(folder / "resnet.pth", resnet);
  auto text = refused("resnet.pth");
  CHECK(contains(text, "2 tensors: conv1.weight [64, 3, 7, 7], layer1.0.bn1.weight [64]"));
  CHECK(contains(text, "meshnet, msinet"));
  io::write_npz(folder / "resnet.npz", resnet);
  CHECK(contains(refused("resnet.npz"), "conv1.weight [64, 3, 7, 7]"));
  io::write_torch_file(folder / "flat.pt", std::vector{zeros("0.weight", {4, 3, 3, 3})});
  CHECK(contains(refused("flat.pt"), "0.weight [4, 3, 3, 3]"));  // numbered, but not in 3D
  io::write_torch_file(folder / "head.pth", std::vector{zeros("classifier.0.weight", {5, 3})});
  refused("head.pth");
  io::write_hdf5(folder / "dense.h5", std::vector{zeros("dense/dense/kernel:0", {10, 7})});
  CHECK(contains(refused("dense.h5"), "dense/dense/kernel:0 [10, 7]"));
}
