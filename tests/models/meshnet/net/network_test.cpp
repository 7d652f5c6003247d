// SPDX-License-Identifier: Apache-2.0
// The network against a plain implementation with autograd's own ops, in every variant.
#include "ubique/models/meshnet/net/network.h"

#include "tests/base/scratch.h"
#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/meshnet/net/layer_chain.h"
#include "ubique/models/meshnet/net/loss.h"
#include "ubique/models/meshnet/net/needs.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

MeshNetConfig small_config() {
  MeshNetConfig config;
  config.channels = 3;
  config.classes = 3;
  config.dilations = {1, 2, 3, 1};
  return config;
}

at::Tensor plain_activation(const at::Tensor& x, Activation activation) {
  if (activation == Activation::Elu) return at::elu(x);
  if (activation == Activation::Gelu) return at::gelu(x);
  if (activation == Activation::GeluTanh) return at::gelu(x, "tanh");
  return at::relu(x);
}

/// The network in train mode, written with torch's own ops, which update the running statistics.
at::Tensor plain_forward(MeshNet& network, at::Tensor x) {
  const auto& config = network.config();
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto& block = *network.blocks[i];
    const auto d = config.dilations[i];
    x = at::conv3d(x, block.conv->weight, block.conv->bias, 1, d * (config.kernel / 2), d);
    if (config.norm == Norm::Instance) x = at::group_norm(x, config.channels, {}, {}, 1e-5);
    if (config.norm == Norm::Batch) {
      x = at::batch_norm(x, block.bn->weight, block.bn->bias, block.bn->running_mean,
                         block.bn->running_var, true, 0.1, 1e-5, false);
    }
    x = plain_activation(x, config.activation);
  }
  return at::conv3d(x, network.classifier->weight, network.classifier->bias);
}

struct Pass {
  at::Tensor logits, image_gradient;
  engine::NamedTensors gradients, buffers;
};

template <typename Forward>
Pass run_pass(MeshNet& network, const at::Tensor& image, const Forward& forward) {
  network.zero_grad();
  auto x = image.detach().clone().requires_grad_();
  Pass pass;
  pass.logits = forward(x);
  (pass.logits *
   at::linspace(-1, 1, pass.logits.numel(), pass.logits.options()).view_as(pass.logits))
      .sum()
      .backward();
  pass.image_gradient = x.grad();
  for (const auto& item : network.named_parameters()) {
    pass.gradients.emplace_back(item.key(), item.value().grad().clone());
  }
  for (const auto& item : network.named_buffers()) {
    pass.buffers.emplace_back(item.key(), item.value().clone());
  }
  return pass;
}

void check_same_pass(const Pass& ours, const Pass& plain, double tolerance) {
  CHECK(relative_distance(ours.logits, plain.logits) < tolerance);
  CHECK(relative_distance(ours.image_gradient, plain.image_gradient) < tolerance);
  REQUIRE(ours.gradients.size() == plain.gradients.size());
  for (std::size_t i = 0; i < ours.gradients.size(); ++i) {
    INFO(ours.gradients[i].first);
    const auto& expected = plain.gradients[i].second;
    // A bias before a norm has a gradient of zero, which autograd computes with rounding errors.
    const auto scale = std::max(1.0, expected.abs().max().item<double>());
    CHECK(distance(ours.gradients[i].second, expected) < tolerance * scale);
  }
  for (std::size_t i = 0; i < ours.buffers.size(); ++i) {
    INFO(ours.buffers[i].first);
    if (ours.buffers[i].first.ends_with("tracked")) continue;
    CHECK(distance(ours.buffers[i].second, plain.buffers[i].second) < tolerance);
  }
}

/// Both implementations from the same weights, in double.
void compare_with_plain(const MeshNetConfig& config, const TrainingOptions& options = {},
                        at::IntArrayRef shape = {2, 1, 7, 5, 9}) {
  auto ours = random_network(config), plain = random_network(config);
  ours->to(at::kDouble);
  plain->to(at::kDouble);
  ours->set_training_options(options);
  const auto image = random_tensor(shape, 5).to(at::kDouble);
  const auto a = run_pass(*ours, image, [&](const at::Tensor& x) { return ours->forward(x); });
  const auto b =
      run_pass(*plain, image, [&](const at::Tensor& x) { return plain_forward(*plain, x); });
  check_same_pass(a, b, 1e-9);
}

}  // namespace

TEST_CASE("network: MeshNet-5, -16 and -26 have the published numbers of parameters") {
  const std::map<std::string, std::int64_t> published = {
      {"meshnet-5", 5682}, {"meshnet_16", 56194}, {"meshnet-26", 147474}};
  for (const auto& [name, expected] : published) {
    const auto config = preset(name);
    std::int64_t count = 0;
    for (const auto& parameter : MeshNet(config).parameters()) count += parameter.numel();
    CHECK(count == expected);
    CHECK(parameter_count(config) == expected);
    CHECK(needs_of(config, {8, 8, 8}).parameter_count() == expected);
  }
}

TEST_CASE("network: the count of parameters holds for every variant") {
  for (const auto norm : {Norm::Batch, Norm::Instance, Norm::None}) {
    for (const bool bias : {false, true}) {
      auto config = small_config();
      config.norm = norm;
      config.bias = bias;
      std::int64_t count = 0;
      for (const auto& parameter : MeshNet(config).parameters()) count += parameter.numel();
      CHECK(parameter_count(config) == count);
    }
  }
}

TEST_CASE("network: state-dict names and their order are upstream's") {
  const auto state = state_of(MeshNet(preset("meshnet-5")));
  REQUIRE(state.size() == 65);
  const std::vector<std::string> first = {"network.0.conv.weight",
                                          "network.0.conv.bias",
                                          "network.0.bn.weight",
                                          "network.0.bn.bias",
                                          "network.0.bn.running_mean",
                                          "network.0.bn.running_var",
                                          "network.0.bn.num_batches_tracked",
                                          "network.1.conv.weight"};
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(state[i].first == first[i]);
  CHECK(state[63].first == "network.9.weight");
  CHECK(state[64].first == "network.9.bias");
  CHECK(state[63].second.sizes().vec() == std::vector<std::int64_t>{2, 5, 1, 1, 1});
}

TEST_CASE("network: fresh weights follow the seed alone and have the stated spread") {
  auto config = preset("meshnet-26");
  MeshNet a(config), b(config), c(config);
  initialize(a, Random(42));
  initialize(b, Random(42));
  initialize(c, Random(43));
  const auto of = [](const MeshNet& network) { return network.blocks[3]->conv->weight; };
  CHECK(at::equal(of(a), of(b)));
  CHECK_FALSE(at::equal(of(a), of(c)));
  CHECK_FALSE(at::equal(of(a), a.blocks[4]->conv->weight));
  CHECK(of(a).std().item<double>() == doctest::Approx(2 / std::sqrt(27.0 * 52)).epsilon(0.03));
  config.init = Init::KaimingFanOut;
  MeshNet kaiming(config);
  initialize(kaiming, Random(42));
  CHECK(of(kaiming).std().item<double>() ==
        doctest::Approx(std::sqrt(2 / (27.0 * 26))).epsilon(0.03));
  CHECK(a.blocks[0]->conv->bias.abs().max().item<float>() == 0);
}

TEST_CASE("network: every norm, activation and bias trains as the plain composition does") {
  for (const auto norm : {Norm::Batch, Norm::Instance, Norm::None}) {
    for (const auto activation :
         {Activation::Relu, Activation::Elu, Activation::Gelu, Activation::GeluTanh}) {
      for (const bool bias : {true, false}) {
        auto config = small_config();
        config.norm = norm;
        config.activation = activation;
        config.bias = bias;
        INFO(kernels::to_string(norm) << " " << kernels::to_string(activation) << " " << bias);
        compare_with_plain(config);
      }
    }
  }
}

TEST_CASE("network: padding, segments and channels-last change nothing but rounding") {
  for (const std::int64_t pad : {1, 4, 8}) {
    for (const std::int64_t segments : {0, 1, 2, 3, 4}) {
      for (const bool last : {false, true}) {
        INFO("padded to " << pad << ", segments " << segments << ", channels last " << last);
        compare_with_plain(small_config(), {pad, segments, last}, {1, 1, 6, 7, 5});
      }
    }
  }
  auto config = small_config();
  config.norm = Norm::Instance;
  config.activation = Activation::Gelu;
  compare_with_plain(config, {4, 2, true});
}

TEST_CASE("network: a kernel of five and two input channels") {
  auto config = small_config();
  config.kernel = 5;
  config.in_channels = 2;
  compare_with_plain(config, {}, {2, 2, 7, 5, 9});
}

TEST_CASE("network: running statistics are updated once a step, also with recomputation") {
  for (const std::int64_t segments : {0, 2}) {
    auto network = random_network(small_config());
    network->set_training_options({1, segments, false});
    network->forward(random_tensor({1, 1, 5, 6, 7}, 9)).sum().backward();
    CHECK(network->blocks[1]->bn->num_batches_tracked.item<std::int64_t>() == 1);
  }
}

TEST_CASE("network: a bias before a batch norm has a defined gradient of zero") {
  auto network = random_network(small_config());
  network->forward(random_tensor({1, 1, 5, 6, 7}, 9)).sum().backward();
  const auto gradient = network->blocks[2]->conv->bias.grad();
  REQUIRE(gradient.defined());
  CHECK(gradient.abs().max().item<float>() == 0);
}

TEST_CASE("network: dropout drops whole channels, and the same ones when recomputed") {
  auto config = small_config();
  config.channels = 8;
  config.dropout = 0.5;
  const auto image = random_tensor({2, 1, 5, 6, 7}, 9);
  const auto gradient_of = [&](std::int64_t segments) {
    at::manual_seed(11);
    auto network = random_network(config);
    network->set_training_options({1, segments, false});
    network->forward(image).square().sum().backward();
    return network->blocks[1]->conv->weight.grad().clone();
  };
  const auto plain = gradient_of(0);
  CHECK(relative_distance(gradient_of(2), plain) < 1e-5);
  at::manual_seed(12);
  auto network = random_network(config);
  const auto other = network->forward(image);
  CHECK(distance(other, network->forward(image)) > 1e-3);
  network->eval();
  CHECK(distance(network->forward(image), network->forward(image)) == 0);
}

TEST_CASE("network: eval mode uses running statistics and can be differentiated") {
  auto network = random_network(small_config());
  network->eval();
  const auto image = random_tensor({1, 1, 5, 6, 7}, 9);
  const auto with_gradient = network->forward(image);
  with_gradient.sum().backward();
  CHECK(network->blocks[0]->conv->weight.grad().abs().max().item<float>() > 0);
  CHECK(network->blocks[0]->bn->num_batches_tracked.item<std::int64_t>() == 0);
  const at::NoGradGuard no_gradients;
  CHECK(distance(network->forward(image), with_gradient) < 1e-6);
}

TEST_CASE("network: train mode without gradients still updates the statistics") {
  auto network = random_network(small_config());
  const at::NoGradGuard no_gradients;
  const auto logits = network->forward(random_tensor({1, 1, 5, 6, 7}, 9));
  CHECK_FALSE(logits.requires_grad());
  CHECK(network->blocks[0]->bn->num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE("network: under autocast convolutions are bf16, statistics and gradients f32") {
  auto full = random_network(small_config()), mixed = random_network(small_config());
  const auto image = random_tensor({1, 1, 8, 9, 10}, 9);
  const auto expected = full->forward(image);
  expected.square().mean().backward();
  at::Tensor logits;
  {
    const engine::Autocast autocast(c10::kCPU, {true, at::kBFloat16});
    logits = mixed->forward(image);
    logits.to(at::kFloat).square().mean().backward();  // inside the region: must make no difference
  }
  CHECK((logits.scalar_type() == at::kBFloat16));
  CHECK(relative_distance(logits, expected) < 0.05);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& ours = *mixed->blocks[i];
    CHECK((ours.conv->weight.grad().scalar_type() == at::kFloat));
    CHECK(relative_distance(ours.conv->weight.grad(), full->blocks[i]->conv->weight.grad()) < 0.2);
    CHECK(distance(ours.bn->running_mean, full->blocks[i]->bn->running_mean) < 2e-3);
  }
}

TEST_CASE("network: a second backward through one step is refused") {
  auto network = random_network(small_config());
  const auto loss = network->forward(random_tensor({1, 1, 5, 6, 7}, 9)).sum();
  loss.backward({}, /*retain_graph=*/true);
  const auto message = refusal_of(ErrorKind::Internal, [&] { loss.backward(); });
  CHECK(contains(message, "twice"));
}

TEST_CASE("network: input of another shape is refused, and one voxel cannot train a norm") {
  MeshNet network(small_config());
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [&] {
                              network.forward(at::zeros({1, 2, 4, 4, 4}));
                            }),
                 "2 channels"));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [&] {
                              network.forward(at::zeros({4, 4, 4}));
                            }),
                 "3 dimensions"));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [&] {
                              network.forward(at::zeros({1, 1, 1, 1, 1}));
                            }),
                 "more than one voxel"));
  network.eval();
  CHECK(network.forward(at::zeros({1, 1, 1, 1, 1})).numel() == 3);
}

TEST_CASE("network: weights of other channels are refused before anything changes") {
  MeshNet five(preset("meshnet-5")), sixteen(preset("meshnet-16"));
  initialize(five, Random(1));
  const auto before = five.blocks[0]->conv->weight.detach().clone();
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { load_state(five, state_of(sixteen)); }),
                 "network.0.conv.weight"));
  CHECK(at::equal(five.blocks[0]->conv->weight, before));
}

TEST_CASE("needs: the saved activations are those that the chain saves") {
  CHECK(chain_peak(9, 0) == 11);
  CHECK(chain_peak(9, 3) == 6);
  const auto needs = needs_of(preset("meshnet-26"), {256, 256, 256});
  const std::int64_t layer = 26LL << 24;
  CHECK(needs.activations.saved == 9 * layer + (1 << 24));
  CHECK(needs.activations.transient == 2 * layer + (2 << 24));
  CHECK(needs.activations.run == 2 * layer + (1 << 24));
  CHECK(needs.flops_run == doctest::Approx(4.92e12).epsilon(0.01));
  const auto levels = needs.checkpointing.all();
  REQUIRE(levels.size() > 1);
  for (std::size_t i = 1; i < levels.size(); ++i) {
    CHECK(levels[i].kept < levels[i - 1].kept);
    CHECK(levels[i].extra > levels[i - 1].extra);
  }
  CHECK(levels.back().segments == 3);
  CHECK(levels.back().kept == doctest::Approx(4.0 / 9));
}
