// SPDX-License-Identifier: Apache-2.0
// Folding of batch norms.
#include "ubique/models/meshnet/net/weights.h"
#include "tests/models/meshnet/net/network_samples.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

at::Tensor eval_logits(const MeshNetFile& file, const at::Tensor& image) {
  MeshNet network(file.config);
  load_state(network, file.tensors);
  network.eval();
  const at::NoGradGuard no_gradients;
  return network.forward(image);
}

}  // namespace

TEST_CASE("fold: a folded network gives the logits of the one with batch norms") {
  const auto image = random_tensor({1, 1, 9, 11, 10}, 4);
  for (const bool bias : {true, false}) {
    auto config = preset("meshnet-5");
    config.bias = bias;
    const auto network = random_network(config);
    const MeshNetFile file{config, state_of(*network), "test"};
    const auto folded = fold_batch_norm(file);
    CHECK(folded.config.norm == Norm::None);
    CHECK(folded.config.bias);
    std::int64_t values = 0;
    for (const auto& [name, tensor] : folded.tensors) values += tensor.numel();
    CHECK(values == 5592);
    CHECK(relative_distance(eval_logits(folded, image), eval_logits(file, image)) < 1e-5);
  }
}

TEST_CASE("fold: a network without batch norms is unchanged") {
  auto config = preset("meshnet-5");
  config.norm = Norm::Instance;
  const auto network = random_network(config);
  const MeshNetFile file{config, state_of(*network), "test"};
  const auto folded = fold_batch_norm(file);
  CHECK(folded.config == config);
  CHECK(folded.tensors.size() == file.tensors.size());
}
