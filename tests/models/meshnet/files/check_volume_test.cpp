// SPDX-License-Identifier: Apache-2.0
// The volume of the check after an export shows as many classes as can be found.
#include "ubique/models/meshnet/files/check_volume.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

using namespace ubique;
using meshnet::check_volume;

namespace {

meshnet::MeshNetConfig with_classes(std::int64_t classes) {
  meshnet::MeshNetConfig config;
  config.classes = classes;
  return config;
}

std::int64_t classes_in(const at::Tensor& labels) {
  return std::get<0>(at::_unique(labels)).numel();
}

}  // namespace

TEST_CASE("check volume: smooth blobs do where they show every class") {
  int asked = 0;
  const auto volume = check_volume(with_classes(2), [&](const at::Tensor& image) {
    ++asked;
    return image.squeeze(1).gt(0.5).to(at::kLong);
  });
  CHECK(asked == 1);
  CHECK(volume.sizes() == at::IntArrayRef{1, 1, 17, 18, 37});
}

TEST_CASE("check volume: a network that sees only background in blobs gets a head") {
  // Class 1 where the head is brighter than any blob.
  const auto labels_of = [](const at::Tensor& image) {
    return image.squeeze(1).gt(1.2).to(at::kLong);
  };
  const auto volume = check_volume(with_classes(2), labels_of);
  CHECK(volume.sizes() == at::IntArrayRef{1, 1, 17, 18, 37});
  CHECK(classes_in(labels_of(volume)) == 2);
}

TEST_CASE("check volume: a class that occurs nowhere ends the search, and the rest is shown") {
  int asked = 0;
  const auto labels_of = [&](const at::Tensor& image) {
    ++asked;
    return image.squeeze(1).gt(0.5).to(at::kLong);  // never 2
  };
  const auto volume = check_volume(with_classes(3), labels_of);
  CHECK(asked <= 13);
  CHECK(classes_in(labels_of(volume)) == 2);
}

TEST_CASE("check volume: it has the network's channels") {
  auto config = with_classes(4);
  config.in_channels = 2;
  const auto none = [](const at::Tensor& image) { return at::zeros_like(image.select(1, 0)); };
  CHECK(check_volume(config, none).size(1) == 2);
}
