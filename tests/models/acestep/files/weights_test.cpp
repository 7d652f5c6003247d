// SPDX-License-Identifier: Apache-2.0
// Weight files: folded and in two parts, missing, unknown and misshapen tensors.
#include "ubique/models/acestep/files/weights.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/tensors.h"
#include "ubique/base/error.h"
#include "ubique/io/tensors/safetensors_writer.h"

using namespace ubique;
using test::distance, test::random_tensor;

namespace {

class OneConv final : public nn::Network {
 public:
  OneConv() { create({}); }
  void visit(nn::ParameterWalk& walk) override { walk.weights("conv", {4, 3, 5}, conv); }
  nn::WeightAndBias conv;
};

using Tensors = engine::NamedTensors;

std::filesystem::path written(const test::ScratchFolder& scratch, const Tensors& tensors) {
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : tensors) {
    data.push_back(
        {name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  const auto path = scratch.path() / "weights.safetensors";
  io::write_safetensors(path, data, {});
  return path;
}

std::string weights_refusal(const test::ScratchFolder& scratch, const Tensors& tensors) {
  OneConv network;
  try {
    acestep::read_weights(network, written(scratch, tensors), {"buffer"});
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("acestep weights: files with weight norm and with folded weights give one network") {
  const test::ScratchFolder scratch;
  const auto v = random_tensor({4, 3, 5}, 1), g = random_tensor({4, 1, 1}, 2),
             bias = random_tensor({4}, 3);
  OneConv split, folded;
  acestep::read_weights(
      split, written(scratch, {{"conv.weight_g", g}, {"conv.weight_v", v}, {"conv.bias", bias}}));
  acestep::read_weights(folded, written(scratch, {{"conv.weight", acestep::folded_weight(v, g)},
                                                  {"conv.bias", bias}}));
  CHECK(distance(split.conv.weight, folded.conv.weight) == 0);
  CHECK(distance(split.conv.bias, bias) == 0);
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto length = split.conv.weight[i].to(at::kDouble).norm().item<double>();
    CHECK(std::abs(length - std::abs(g[i].item<double>())) < 1e-6);
  }
}

TEST_CASE("acestep weights: half-precision files are read, bad ones are refused by tensor") {
  const test::ScratchFolder scratch;
  const auto weight = random_tensor({4, 3, 5}, 1), bias = random_tensor({4}, 3);
  OneConv network;
  acestep::read_weights(network, written(scratch, {{"conv.weight", weight.to(at::kBFloat16)},
                                                   {"conv.bias", bias.to(at::kHalf)}}));
  CHECK(distance(network.conv.weight, weight.to(at::kBFloat16)) == 0);
  const auto says = [&](const Tensors& tensors, const std::string& part) {
    const auto message = weights_refusal(scratch, tensors);
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says({{"conv.weight", weight}, {"conv.bias", bias}, {"buffer", bias}}, "accepted");
  says({{"conv.weight", weight}}, "conv.bias is missing");
  says({{"conv.weight", weight}, {"conv.bias", bias}, {"more", bias}}, "more belongs to no part");
  says({{"conv.weight", weight.slice(0, 0, 2).contiguous()}, {"conv.bias", bias}},
       "has shape (2, 3, 5), expected (4, 3, 5)");
  says({{"conv.weight_v", weight},
        {"conv.weight_g", bias.slice(0, 0, 2).contiguous()},
        {"conv.bias", bias}},
       "a length for each row");
}
