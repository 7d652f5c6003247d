// SPDX-License-Identifier: Apache-2.0
// The plane-by-plane CPU convolution against torch's, and its classifier against argmax.
#include "ubique/kernels/host/host_planes.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "ubique/kernels/host/host_rows.h"

using namespace ubique::kernels;

namespace {

struct PlanesCase {
  std::int64_t in, out, kernel, dilation, depth, height, width;
};

std::vector<HostPlane> planes_of(const at::Tensor& volume, std::int64_t margin) {
  std::vector<HostPlane> planes;
  for (std::int64_t z = 0; z < volume.size(1); ++z) {
    planes.emplace_back(PlaneForm{volume.size(0), volume.size(2), volume.size(3), margin});
    planes.back().clear_margins();
    planes.back().view().copy_(volume.select(1, z).transpose(0, 1));
  }
  return planes;
}

/// (O, D, H, W)
at::Tensor by_planes(const PlaneConvolution& conv, const at::Tensor& volume, std::int64_t margin,
                     bool relu) {
  const auto depth = volume.size(1), height = volume.size(2), width = volume.size(3);
  PlaneRing ring({volume.size(0), height, width, margin}, conv.kernel(), conv.dilation(), depth,
                 depth);
  ring.copy(volume, 0, depth - 1);
  std::vector<at::Tensor> results;
  for (std::int64_t z = 0; z < depth; ++z) {
    HostPlane out(PlaneForm{conv.out(), height, width, 3});
    out.clear_margins();
    const auto stride = out.form().stride();
    const PlaneJob job{ring.inputs_of(z), out.row(0), conv.out() * stride, stride};
    conv.run({&job, 1}, height, relu);
    results.push_back(out.view().transpose(0, 1).clone());
    // The next layer's taps read the margins: nothing may be written there.
    CHECK(out.flat().abs().sum(at::kDouble).item<double>() ==
          doctest::Approx(out.view().abs().sum(at::kDouble).item<double>()));
  }
  return at::stack(results, 1);
}

void compare_convolution(const PlanesCase& c, bool relu, bool with_bias) {
  at::manual_seed(5);
  const auto options = at::TensorOptions(at::kFloat);
  const auto volume = at::randn({c.in, c.depth, c.height, c.width}, options);
  const auto weight = at::randn({c.out, c.in, c.kernel, c.kernel, c.kernel}, options);
  const auto bias = with_bias ? at::randn({c.out}, options) : at::Tensor();
  const PlaneConvolution conv(weight, bias, c.dilation);
  const auto ours = by_planes(conv, volume, conv.reach(), relu);
  auto expected = at::conv3d(volume.unsqueeze(0).to(at::kDouble), weight.to(at::kDouble),
                             with_bias ? std::optional(bias.to(at::kDouble)) : std::nullopt, 1,
                             conv.reach(), c.dilation)[0];
  if (relu) expected.relu_();
  if (relu) CHECK(ours.min().item<float>() == 0);
  INFO(c.in << " to " << c.out << " channels, kernel " << c.kernel << ", dilation " << c.dilation
            << ", " << c.height << "x" << c.width);
  CHECK((ours - expected).abs().max().item<double>() < 1e-4);
}

}  // namespace

TEST_CASE("host planes: every number of channels and odd widths give torch's convolution") {
  for (const std::int64_t out : {1, 2, 3, 4, 5, 6, 7, 13, 26}) {
    compare_convolution({3, out, 3, 2, 4, 5, 19}, false, true);
  }
  for (const std::int64_t width : {1, 2, 15, 16, 17, 63, 64, 65, 130}) {
    compare_convolution({2, 5, 3, 1, 3, 4, width}, true, true);
  }
}

TEST_CASE("host planes: dilations beyond the volume, larger kernels, no bias") {
  compare_convolution({2, 3, 3, 16, 5, 7, 9}, true, false);
  compare_convolution({1, 5, 3, 4, 9, 10, 11}, false, false);
  compare_convolution({2, 3, 5, 3, 8, 9, 20}, false, true);
  compare_convolution({2, 3, 7, 1, 8, 9, 20}, true, true);
  compare_convolution({2, 3, 1, 1, 2, 3, 20}, true, true);
}

TEST_CASE("host planes: a margin wider than the taps need changes nothing") {
  at::manual_seed(6);
  const auto volume = at::randn({2, 3, 5, 21}, at::TensorOptions(at::kFloat));
  const auto weight = at::randn({4, 2, 3, 3, 3}, at::TensorOptions(at::kFloat));
  const PlaneConvolution conv(weight, {}, 2);
  CHECK(at::equal(by_planes(conv, volume, 2, true), by_planes(conv, volume, 40, true)));
}

TEST_CASE("host planes: a ring copies planes of any strides and overwrites the oldest") {
  const auto volume = at::arange(2 * 7 * 3 * 4, at::TensorOptions(at::kFloat)).view({2, 7, 3, 4});
  for (const auto& sample :
       {volume, volume.transpose(1, 3).contiguous().transpose(1, 3), volume.flip(0)}) {
    PlaneRing ring({2, 3, 4, 1}, 3, 1, 2, 7);
    ring.copy(sample, 0, 3);
    ring.copy(sample, 4, 5);
    const auto inputs = ring.inputs_of(4);
    REQUIRE(inputs.size() == 3);
    for (std::int64_t tap = 0; tap < 3; ++tap) {
      const auto expected = sample.select(1, 3 + tap).transpose(0, 1);
      CHECK(at::equal(inputs[static_cast<std::size_t>(tap)]->view(), expected));
    }
    CHECK(ring.inputs_of(6)[2] == nullptr);
    CHECK(ring.inputs_of(0)[0] == nullptr);
  }
}

TEST_CASE("host planes: blocks of channels cover all of them once") {
  for (std::int64_t channels = 1; channels < 60; ++channels) {
    const auto blocks = block_count(channels);
    CHECK(block_begin(channels, 0) == 0);
    CHECK(block_begin(channels, blocks) == channels);
    for (std::int64_t i = 0; i < blocks; ++i) {
      const auto width = block_begin(channels, i + 1) - block_begin(channels, i);
      CHECK(width >= 1);
      CHECK(width <= kMaxBlockChannels);
    }
  }
}

TEST_CASE("host planes: labels are the argmax, the first of equals") {
  at::manual_seed(7);
  const auto options = at::TensorOptions(at::kFloat);
  for (const std::int64_t classes : {2, 3, 200}) {
    const auto weight = at::randn({classes, 4, 1, 1, 1}, options);
    const auto bias = at::randn({classes}, options);
    const PlaneClassifier classifier(weight, bias);
    const auto planes = planes_of(at::randn({4, 1, 6, 37}, options), 2);
    auto logits = at::empty({classes, 6, 37}, options);
    CHECK(classifier.logits(planes[0], logits.mutable_data_ptr<float>(), 6 * 37));
    const auto expected =
        at::einsum("kc,hcw->khw", {weight.flatten(1), planes[0].view()}) + bias.view({-1, 1, 1});
    CHECK((logits - expected).abs().max().item<double>() < 1e-5);
    auto labels = at::empty({6, 37}, at::kByte);
    CHECK(classifier.labels(planes[0], labels.mutable_data_ptr<std::uint8_t>()));
    CHECK(at::equal(labels, logits.argmax(0).to(at::kByte)));
  }
  const PlaneClassifier ties(at::zeros({3, 4, 1, 1, 1}), at::zeros({3}));
  const auto planes = planes_of(at::randn({4, 1, 2, 5}, options), 0);
  auto labels = at::full({2, 5}, 9, at::kByte);
  CHECK(ties.labels(planes[0], labels.mutable_data_ptr<std::uint8_t>()));
  CHECK(labels.max().item<int>() == 0);
}

TEST_CASE("host planes: a NaN or infinite logit is detected at any position") {
  const PlaneClassifier classifier(at::ones({2, 1, 1, 1, 1}), at::zeros({2}));
  auto labels = at::empty({3, 21}, at::kByte);
  for (const auto value : {NAN, INFINITY, -INFINITY}) {
    for (const std::int64_t x : {0, 15, 16, 20}) {
      auto volume = at::zeros({1, 1, 3, 21}, at::TensorOptions(at::kFloat));
      volume.select(3, x).select(2, 2).fill_(value);
      const auto planes = planes_of(volume, 0);
      CHECK_FALSE(classifier.labels(planes[0], labels.mutable_data_ptr<std::uint8_t>()));
    }
  }
  const auto large = at::full({1, 1, 3, 21}, 3e38F, at::TensorOptions(at::kFloat));
  CHECK(classifier.labels(planes_of(large, 0)[0], labels.mutable_data_ptr<std::uint8_t>()));
}
