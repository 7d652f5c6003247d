// SPDX-License-Identifier: Apache-2.0
// Networks exported to ONNX and imported again.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/export/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/export/write.h"
#include "ubique/models/meshnet/files/graph.h"
#include "ubique/models/meshnet/files/import.h"

using namespace ubique;
using meshnet::Activation;
using meshnet::Norm;
using test::small_config;

namespace {

meshnet::MeshNetFile through_onnx(const meshnet::MeshNetFile& file,
                                  const meshnet::GraphOptions& graph,
                                  const exporting::OnnxOptions& onnx = {}) {
  const test::ScratchFolder folder;
  meshnet::MeshNetModel model(file);
  exporting::export_onnx(meshnet::graph_export(model, graph), onnx, folder / "net.onnx");
  CHECK(meshnet::looks_like_meshnet(folder / "net.onnx"));
  return meshnet::load_any(folder / "net.onnx");
}

}  // namespace

TEST_CASE("onnx import: every form of network comes back to the last bit") {
  for (const auto activation :
       {Activation::Relu, Activation::Elu, Activation::Gelu, Activation::GeluTanh}) {
    for (const auto norm : {Norm::Batch, Norm::Instance, Norm::None}) {
      for (const bool bias : {true, false}) {
        CAPTURE(kernels::to_string(activation));
        CAPTURE(kernels::to_string(norm));
        CAPTURE(bias);
        const auto file = test::random_file(small_config(activation, norm, bias));
        const auto kept = through_onnx(file, {.fold = false});
        CHECK(test::same_weights(file, kept));
        CHECK((kept.config == file.config));
        const auto folded = meshnet::fold_batch_norm(file);
        const auto back = through_onnx(file, {});
        CHECK(test::same_weights(folded, back));
        CHECK((back.config == folded.config));
      }
    }
  }
}

TEST_CASE("onnx import: num_batches_tracked comes back where the norms do") {
  auto file = test::random_file(small_config(Activation::Relu, Norm::Batch));
  const auto counter = [](const meshnet::MeshNetFile& of, int layer) {
    return engine::find_tensor(of.tensors, fmt::format("network.{}.bn.num_batches_tracked", layer));
  };
  for (int layer = 0; layer < 3; ++layer) counter(file, layer).fill_(40 + layer);
  const auto back = through_onnx(file, {.fold = false});
  for (int layer = 0; layer < 3; ++layer) {
    CHECK(counter(back, layer).item<std::int64_t>() == 40 + layer);
  }
}

TEST_CASE("onnx import: steps around the network are not imported") {
  const auto file = test::random_file(small_config(Activation::Relu, Norm::None));
  CHECK(test::same_weights(
      file, through_onnx(file, {.head = meshnet::GraphHead::Labels, .min_max = true})));
  CHECK(test::same_weights(file, through_onnx(file, {.head = meshnet::GraphHead::Probabilities})));
}

TEST_CASE("onnx import: quantised weights come back dequantised") {
  const auto file = test::random_file(small_config(Activation::Gelu, Norm::None));
  for (const auto dtype : {DType::F16, DType::I8}) {
    const auto back = through_onnx(file, {}, {dtype});
    for (std::size_t i = 0; i < file.tensors.size(); ++i) {
      const auto& [name, tensor] = file.tensors[i];
      CAPTURE(name);
      const auto off = (tensor - back.tensors[i].second).abs().max().item<double>();
      CHECK(off < 0.01 * tensor.abs().max().item<double>() + 1e-9);
    }
  }
}

TEST_CASE("onnx import: a file of another kind is refused with what it is") {
  const test::ScratchFolder folder;
  write_file(folder / "net.onnx", "not a graph at all");
  CHECK_FALSE(meshnet::looks_like_meshnet(folder / "net.onnx"));
  test::refusal_of(ErrorKind::Input, [&] { meshnet::load_any(folder / "net.onnx"); });
}
