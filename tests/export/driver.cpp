// SPDX-License-Identifier: Apache-2.0
// Writes networks as ONNX files with an input and our output, for tests/peers/onnx_test.py.
//   export_driver FOLDER
#include <ATen/ATen.h>

#include <cstdio>
#include <filesystem>

#include "ubique/export/onnx.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/models/meshnet/files/graph.h"
#include "ubique/models/meshnet/net/model.h"

namespace {

using namespace ubique;
namespace fs = std::filesystem;

struct ExportCase {
  std::string name;
  meshnet::MeshNetConfig config;
  meshnet::GraphOptions graph;
  exporting::OnnxOptions onnx;
  bool outside = false;  // weights in a separate file
};

meshnet::MeshNetConfig small(kernels::Activation activation, kernels::Norm norm, bool bias) {
  meshnet::MeshNetConfig config;
  config.channels = 6;
  config.classes = 3;
  config.dilations = {1, 2, 4, 2};
  config.activation = activation;
  config.norm = norm;
  config.bias = bias;
  return config;
}

std::vector<ExportCase> cases() {
  using kernels::Activation;
  using kernels::Norm;
  using meshnet::GraphHead;
  const auto usual = small(Activation::Relu, Norm::Batch, true);
  return {
      {"folded", usual, {}, {}},
      {"kept", usual, {.fold = false}, {}},
      {"outside", usual, {}, {}, true},
      {"elu", small(Activation::Elu, Norm::Batch, false), {.fold = false}, {}},
      {"gelu", small(Activation::Gelu, Norm::Instance, false), {}, {}},
      {"gelu_tanh", small(Activation::GeluTanh, Norm::None, true), {}, {}},
      {"probabilities", usual, {.head = GraphHead::Probabilities, .min_max = true}, {}},
      {"labels", usual, {.head = GraphHead::Labels}, {}},
      {"resized", usual, {.min_max = true, .resize = {20, 12, 31}}, {}},
      {"f16", usual, {.min_max = true}, {DType::F16}},
      {"f16_io", usual, {}, {DType::F16, true}},
      {"i8", usual, {}, {DType::I8}},
  };
}

void write_case(const fs::path& folder, const ExportCase& wanted) {
  meshnet::MeshNetModel model(wanted.config);
  model.initialize(Random(3));
  at::manual_seed(4);
  for (auto& buffer : model.network().named_buffers()) {  // non-trivial statistics
    if (buffer.key().ends_with("running_mean")) buffer.value().normal_(0, 0.3);
    if (buffer.key().ends_with("running_var")) buffer.value().uniform_(0.5, 2);
  }
  const auto exported = meshnet::graph_export(model, wanted.graph);
  io::write_onnx(folder / (wanted.name + ".onnx"), exporting::to_onnx(exported.graph, wanted.onnx),
                 {.most_bytes = wanted.outside ? 0 : 1LL << 31});
  io::write_npy(folder / (wanted.name + "_input.npy"), exported.input);
  io::write_npy(folder / (wanted.name + "_output.npy"), exported.output);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("export_driver FOLDER\n", stderr), 2;
  try {
    for (const auto& wanted : cases()) {
      write_case(argv[1], wanted);
      std::puts(wanted.name.c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "export_driver: %s\n", error.what());
    return 1;
  }
  return 0;
}
