// SPDX-License-Identifier: Apache-2.0
// The network: golden values of the published program, and properties for any weights.
#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/models/msinet/net/loss.h"
#include "ubique/models/msinet/net/upsample.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

struct Golden {
  std::string size;
  std::map<std::string, at::Tensor> tensors;
  Json numbers;

  at::Tensor picture() const {  // (1, 3, H, W)
    return tensors.at("image_uint8").permute({2, 0, 1}).unsqueeze(0);
  }
  at::Tensor target() const { return tensors.at("target_uint8").unsqueeze(0); }
};

/// Nothing where the golden folder is absent.
std::vector<Golden> goldens() {
  const auto folder = shared_folder("golden/msinet/net");
  if (folder.empty()) return {};
  const auto json = parse_json(read_file(folder / "net.json"), "net.json");
  std::vector<Golden> list;
  for (const std::string size : {"64x80", "120x160"}) {
    list.push_back({size, by_name(read_tensors(folder / ("net_" + size + ".safetensors"))),
                    json.at("sizes").at(size)});
  }
  return list;
}

std::shared_ptr<MsiNet> published_network(Upsample mode, bool channels_last) {
  MsiNetConfig config;
  config.upsample = mode;
  auto network = golden_network(config, 0);
  network->set_channels_last(channels_last);
  if (!channels_last) return network;
  const at::NoGradGuard no_gradients;
  for (auto& parameter : network->parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.detach().contiguous(at::MemoryFormat::ChannelsLast));
  }
  return network;
}

/// (1, C, H, W) as the golden data keeps it: (H, W, C), some of the channels.
at::Tensor as_stored(const at::Tensor& tensor, std::int64_t stride) {
  return tensor.detach()[0].permute({1, 2, 0}).slice(2, 0, std::nullopt, stride);
}

void check_taps(const Golden& golden, const Taps& taps, const std::string& mode) {
  const auto off = [&](const at::Tensor& ours, const std::string& name) {
    const auto& theirs = golden.tensors.at(name);
    const auto stride = ours.size(1) / theirs.size(2);
    return relative_distance(as_stored(ours, stride), theirs);
  };
  CHECK(off(taps.stages[0], "tap_A") < 1e-5);
  CHECK(off(taps.stages[1], "tap_B") < 1e-5);
  CHECK(off(taps.stages[2], "tap_C") < 1e-5);
  CHECK(off(taps.aspp, "aspp") < 1e-5);
  CHECK(off(taps.decoder, "decoder_" + mode) < 1e-5);
  CHECK(distance(as_stored(taps.map, 1), golden.tensors.at("map_" + mode)) < 1e-5);
}

/// How far the loss of a map in f32 may lie from that of `map`, which it is `off` from at any
/// pixel: to first order the sum of t / (p + eps) times the errors of p, which is the map over its
/// sum. That is 2 to 3 times `off`, and more where people looked at pixels that the map has near
/// zero. The loss adds a few roundings of its own.
double loss_rounding(const at::Tensor& map, const at::Tensor& target, double off) {
  const auto values = map.to(at::kDouble).flatten();
  const auto looks = target.to(at::kDouble).flatten();
  const auto p = values / values.sum(), t = looks / looks.sum();
  const auto sensitivity = (t / (p + 1e-7)).sum() / values.sum();
  const auto loss = kld_loss(map.to(at::kDouble), target).item<double>();
  return sensitivity.item<double>() * off + 1e-6 * std::max(1.0, loss);
}

/// `tolerance`: as a share of a gradient's norm.
void check_gradients(const Golden& golden, const MsiNet& network, const std::string& mode,
                     double tolerance) {
  const auto& rows = golden.numbers.at("grad_" + mode);
  int compared = 0;
  for (const auto& item : network.named_parameters()) {
    auto name = item.key();
    std::replace(name.begin(), name.end(), '.', '/');
    const bool kernel = name.ends_with("/weight");
    if (kernel) name.replace(name.size() - 6, 6, "kernel");
    if (!rows.contains(name)) continue;
    INFO(golden.size << " " << mode << " " << name);
    auto gradient = item.value().grad().to(at::kDouble);
    if (name == "decoder/conv4/bias") {
      CHECK(gradient.abs().max().item<double>() < 1e-6);
      continue;
    }
    ++compared;
    if (kernel) gradient = gradient.permute({2, 3, 1, 0}).contiguous();
    const auto size = rows.at(name).at("l2").get<double>(), most = tolerance * size;
    CHECK(std::abs(gradient.norm().item<double>() - size) < most);
    const auto first = rows.at(name).at("first5").get<std::vector<double>>();
    const auto ours = gradient.flatten();
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(std::abs(ours[static_cast<std::int64_t>(i)].item<double>() - first[i]) < most);
    }
    const auto whole = golden.tensors.find("grad_" + mode + "/" + name);
    if (whole == golden.tensors.end()) continue;
    CHECK((gradient - whole->second.to(at::kDouble)).norm().item<double>() < most);
  }
  CHECK(compared > 8);
}

}  // namespace

TEST_CASE("golden: the weight rule gives the recorded sums") {
  const auto folder = shared_folder("golden/msinet/net");
  if (folder.empty()) return;
  const auto json = parse_json(read_file(folder / "net.json"), "net.json").at("tensors");
  const auto state = golden_state(MsiNetConfig(), 0);
  REQUIRE(json.size() == state.size());
  for (std::size_t k = 0; k < state.size(); ++k) {
    auto name = state[k].first;
    std::replace(name.begin(), name.end(), '.', '/');
    if (name.ends_with("/weight")) name.replace(name.size() - 6, 6, "kernel");
    CHECK(json[k].at("name").get<std::string>() == name);
    const auto sum = state[k].second.to(at::kDouble).sum().item<double>();
    CHECK(sum == doctest::Approx(json[k].at("sum_fp64").get<double>()).epsilon(1e-9));
  }
}

TEST_CASE("golden: every tap, the map and the loss, in both upsampling modes and layouts") {
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    for (const bool channels_last : {false, true}) {
      const auto network = published_network(mode, channels_last);
      const at::NoGradGuard no_gradients;
      for (const auto& golden : goldens()) {
        const std::string name(to_string(mode));
        INFO(golden.size << " " << name << " channels last " << channels_last);
        const auto taps = network->forward_taps(golden.picture());
        check_taps(golden, taps, name);
        const auto loss = kld_loss(taps.map, golden.target()).item<double>();
        const auto off = distance(as_stored(taps.map, 1), golden.tensors.at("map_" + name));
        CHECK(std::abs(loss - golden.numbers.at("loss_" + name).get<double>()) <
              loss_rounding(taps.map, golden.target(), off));
      }
    }
  }
}

TEST_CASE("network: map and loss in f32 differ from f64 by rounding only, in both layouts") {
  const at::NoGradGuard no_gradients;
  const auto picture = random_picture({1, 3, 72, 104}, 1);
  const auto target = (random_tensor({1, 72, 104}, 2) > 2.5).to(at::kByte) * 200;  // a few points
  const auto exact_network = published_network(Upsample::Legacy, false);
  exact_network->to(at::kDouble);
  const auto exact = exact_network->forward_taps(picture).map;
  const auto exact_loss = kld_loss(exact, target).item<double>();
  for (const bool channels_last : {false, true}) {
    INFO("channels last " << channels_last);
    const auto map = published_network(Upsample::Legacy, channels_last)->forward_taps(picture).map;
    const auto off = distance(map, exact);
    CHECK(off < 1e-5);
    CHECK(std::abs(kld_loss(map, target).item<double>() - exact_loss) <
          loss_rounding(exact, target, off));
  }
}

TEST_CASE("golden: gradients of the loss, in both upsampling modes and layouts") {
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    for (const bool channels_last : {false, true}) {
      for (const auto& golden : goldens()) {
        const std::string name(to_string(mode));
        if (!golden.numbers.contains("grad_" + name)) continue;
        for (const auto dtype : {at::kDouble, at::kFloat}) {
          const auto network = published_network(mode, channels_last);
          network->to(dtype);
          INFO("channels last " << channels_last << ", f64 " << (dtype == at::kDouble));
          kld_loss(network->forward(golden.picture()), golden.target()).backward();
          // In f32 another summation order can switch one ReLU of conv5_3 whose input is almost 0;
          // one unit is 0.4 % of these gradients.
          const bool strict = dtype == at::kDouble || !channels_last;
          check_gradients(golden, *network, name, strict ? 1e-4 : 1e-2);
        }
      }
    }
  }
}

TEST_CASE("upsample: even positions copy, odd ones are means, the edge is repeated") {
  const auto x = at::tensor({1.F, 3.F, 7.F, 9.F}).view({1, 1, 2, 2});
  const auto expected = at::tensor({1.F, 2.F, 3.F, 3.F, 4.F, 5.F, 6.F, 6.F,  //
                                    7.F, 8.F, 9.F, 9.F, 7.F, 8.F, 9.F, 9.F});
  CHECK(upsample_twice(x, Upsample::Legacy).flatten().equal(expected));
}

TEST_CASE("upsample: both modes keep the memory format, and the gradient is the transpose") {
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      for (const auto& shape : std::vector<std::vector<std::int64_t>>{
               {2, 3, 4, 5}, {1, 4, 1, 1}, {1, 2, 1, 6}, {3, 1, 7, 1}}) {
        auto x = random_tensor(shape, 4).to(at::kDouble).contiguous(format).requires_grad_();
        const auto y = upsample_twice(x, mode);
        const bool plain = shape[1] == 1 || shape[2] * shape[3] == 1;  // one memory format is both
        CHECK((plain || y.is_contiguous(format)));
        const auto g = random_tensor(y.sizes(), 5).to(at::kDouble);
        y.backward(g);
        // It is linear: <g, A·d> = <Aᵀ·g, d> for any d says that the gradient is the transpose.
        const auto d = random_tensor(shape, 6).to(at::kDouble);
        const auto along = (g * upsample_twice(d, mode)).sum().item<double>();
        CHECK((x.grad() * d).sum().item<double>() == doctest::Approx(along).epsilon(1e-12));
        if (mode == Upsample::HalfPixel) continue;
        const auto wide = at::upsample_bilinear2d(x.detach(), {2 * shape[2] - 1, 2 * shape[3] - 1},
                                                  /*align_corners=*/true);
        CHECK(distance(y.slice(2, 0, -1).slice(3, 0, -1), wide) < 1e-12);
      }
    }
  }
}

TEST_CASE("network: a picture has the same map in a batch and alone") {
  const auto network = golden_network(tiny_config());
  const at::NoGradGuard no_gradients;
  const auto pictures = random_picture({3, 3, 24, 32}, 1);
  const auto together = network->forward(pictures);
  CHECK(together.sizes() == at::IntArrayRef({3, 1, 24, 32}));
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(distance(together.slice(0, i, i + 1), network->forward(pictures.slice(0, i, i + 1))) <
          1e-5);
    CHECK(together[i].min().item<float>() == 0);
    CHECK(together[i].max().item<float>() == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("network: u8, f32 and f64 pictures and both layouts give the same map") {
  auto network = golden_network(tiny_config());
  const at::NoGradGuard no_gradients;
  const auto picture = random_picture({2, 3, 24, 32}, 2);
  const auto map = network->forward(picture);
  CHECK(network->forward(picture.to(at::kFloat)).equal(map));
  CHECK(network->forward(picture.contiguous(at::MemoryFormat::ChannelsLast)).equal(map));
  network->set_channels_last(true);
  CHECK(distance(network->forward(picture), map) < 1e-5);
  network->to(at::kDouble);
  const auto exact = network->forward(picture);
  CHECK((exact.scalar_type() == at::kDouble));
  CHECK(distance(exact, map) < 1e-4);
}

TEST_CASE("network: frozen, it gives the same maps in both layouts") {
  const at::NoGradGuard no_gradients;
  const auto picture = random_picture({2, 3, 16, 24}, 3), other = random_picture({1, 3, 24, 32}, 4);
  for (const auto mode : {Upsample::Legacy, Upsample::HalfPixel}) {
    auto config = tiny_config();
    config.upsample = mode;
    const auto plain = golden_network(config);
    for (const bool channels_last : {false, true}) {
      const auto frozen = golden_network(config);
      frozen->set_channels_last(channels_last);
      frozen->freeze(at::kFloat);
      CHECK(distance(frozen->forward(picture), plain->forward(picture)) < 1e-5);
      CHECK(distance(frozen->forward(other), plain->forward(other)) < 1e-5);
      const auto narrow = golden_network(config);
      narrow->set_channels_last(channels_last);
      narrow->freeze(at::kBFloat16);
      const auto map = narrow->forward(picture);
      CHECK((map.scalar_type() == at::kFloat));
      CHECK(distance(map, plain->forward(picture)) < 0.1);
      CHECK(distance(map, plain->forward(picture)) > 0);  // it did compute in another type
    }
  }
}

TEST_CASE("network: gradients are those of finite differences") {
  auto network = golden_network(tiny_config());
  network->to(at::kDouble);
  const auto picture = random_picture({2, 3, 16, 24}, 3), target = random_picture({2, 16, 24}, 4);
  const auto loss_now = [&] { return kld_loss(network->forward(picture), target); };
  loss_now().backward();
  const at::NoGradGuard no_gradients;
  for (const auto* name : {"conv1.conv1_2.weight", "aspp.conv1_4.weight", "aspp.conv1_5.bias",
                           "aspp.conv2.weight", "decoder.conv1.weight"}) {
    auto parameter = engine::find_tensor(engine::state_dict(*network), name);
    const auto direction = random_tensor(parameter.sizes(), 7).to(at::kDouble);
    const auto slope = (parameter.grad() * direction).sum().item<double>();
    const double step = 1e-7;
    parameter.add_(direction, step);
    const auto above = loss_now().item<double>();
    parameter.add_(direction, -2 * step);
    const auto below = loss_now().item<double>();
    parameter.add_(direction, step);
    INFO(name);
    CHECK((above - below) / (2 * step) == doctest::Approx(slope).epsilon(1e-4));
  }
}

TEST_CASE("network: initial weights depend on the seed alone, within Glorot's bounds") {
  MsiNet first(tiny_config()), second(tiny_config()), other(tiny_config());
  initialize(first, Random(9));
  initialize(second, Random(9));
  initialize(other, Random(10));
  const auto state = engine::state_dict(first);
  CHECK(same_bits(state, engine::state_dict(second)));
  CHECK_FALSE(same_bits(state, engine::state_dict(other)));
  for (const auto& [name, tensor] : state) {
    if (tensor.dim() == 1) {
      CHECK(tensor.abs().max().item<double>() == 0);
      continue;
    }
    const auto fans = static_cast<double>(tensor[0][0].numel() * (tensor.size(0) + tensor.size(1)));
    const double scale = name == "conv1.conv1_1.weight" ? 60 : 1;  // pixels count to 255
    const auto most = tensor.abs().max().item<double>() * scale, bound = std::sqrt(6 / fans);
    CHECK(most <= bound * 1.000001);
    CHECK(most > 0.8 * bound);
  }
}

TEST_CASE("network: pictures of a wrong shape are refused with the expected one") {
  const auto network = golden_network(tiny_config());
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{
           {1, 3, 23, 32}, {1, 1, 24, 32}, {3, 24, 32}, {1, 3, 0, 32}}) {
    CHECK(contains(refusal_of(ErrorKind::Input, [&] { network->forward(at::zeros(shape)); }),
                   "multiples of 4"));
  }
}
