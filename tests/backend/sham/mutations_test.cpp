// SPDX-License-Identifier: Apache-2.0
// A healthy pretend device agrees with the CPU; with one planted fault it is wrong there and
// nowhere else.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "battery.h"
#include "device.h"
#include "ubique/base/text/text.h"

using namespace ubique;
using namespace ubique::test;

namespace {

using Names = std::vector<std::string>;

const std::map<std::string, Names> kExpected = {
    {"sdpa_causal", {"attention_causal_half"}},
    {"sdpa_gqa_long", {"attention_gqa_long"}},
    {"sdpa_block32", {"attention_70"}},
    {"conv3d_contiguous", {"conv3d_contiguous"}},
    {"conv3d_channels_last", {"conv3d_channels_last"}},
    {"batch_norm_backward", {"batch_norm3d", "batch_norm2d"}},
    // Attention multiplies its transposed keys by the scale.
    {"strided_views",
     {"linear_strided", "add_strided", "attention", "attention_causal", "attention_causal_half",
      "attention_70", "attention_gqa", "attention_gqa_long", "attention_masked_half", "shapes"}},
    {"sliced_views", {"linear_sliced", "add_sliced"}},
    {"conv2d_weight_slice", {"conv2d_weight_slice"}},
    {"strided_writes", {"addcmul_strided"}},
    {"layer_norm_frozen", {"layer_norm_frozen"}},
    {"multinomial", {"multinomial"}},
    {"autocast_off", {"autocast"}},
    {"conv1d_long", {"conv1d_long"}},
    {"cumsum", {"cumsum"}},
    {"matmul_half", {"matmul_half", "autocast"}},
    {"layer_norm", {"layer_norm", "layer_norm_frozen"}},
    {"linear_bias", {"linear_3d"}},
    {"op:aten::max_pool2d_with_indices", {"max_pool2d"}},
};

}  // namespace

TEST_CASE("sham: a healthy device agrees with the CPU on all ops of models") {
  CHECK(join(disagreements(sham_device()), "\n") == "");
}

TEST_CASE("sham: after planted faults are removed the device is healthy again") {
  const auto device = sham_device();
  { const Told told("wrong=cumsum,autocast_off,linear_bias; refuse=op:aten::relu"); }
  CHECK(join(disagreements(device), "\n") == "");
}

TEST_CASE("sham: every planted fault in the device's table is tested") {
  sham_device();
  const auto message = settings_error("wrong=no_such_behaviour");
  const auto first = message.find("one of ") + 7;
  const Names elsewhere = {"checkpoint_dropout", "non_blocking", "float64_silent"};
  for (const auto& name : split(message.substr(first, message.find('.', first) - first), ',')) {
    CAPTURE(name);
    CHECK((kExpected.count(name) == 1 ||
           std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end()));
  }
}

TEST_CASE("sham: wrong=checkpoint_dropout draws another mask from a restored state") {
  const auto device = sham_device();
  const auto ones = at::ones({64}, device);
  const auto drops_again = [&] {
    auto generator = at::globalContext().defaultGenerator(device);
    const auto state = generator.get_state();
    const auto first = at::dropout(ones, 0.5, true);
    generator.set_state(state);
    return at::equal(first, at::dropout(ones, 0.5, true));
  };
  CHECK(drops_again());
  const Told told("wrong=checkpoint_dropout");
  CHECK_FALSE(drops_again());
}

TEST_CASE("sham: wrong=non_blocking copies what the source holds later") {
  const auto device = sham_device();
  const auto arrives = [&](bool non_blocking) {
    auto source = at::ones({8});
    const auto copy = source.to(device, at::kFloat, non_blocking);
    source.fill_(7);
    return copy.cpu()[0].item<float>();
  };
  CHECK(arrives(true) == 1);
  const Told told("wrong=non_blocking");
  CHECK(arrives(true) == 7);
  CHECK(arrives(false) == 1);
}

TEST_CASE("sham: wrong=float64_silent gives float32 for float64") {
  const auto device = sham_device();
  const auto doubles = at::ones({2}, at::kDouble);
  CHECK(error_of([&] { (void)doubles.to(device); }) != "");
  const Told told("wrong=float64_silent");
  CHECK((doubles.to(device).scalar_type() == at::kFloat));
}

TEST_CASE("sham: each planted fault changes its own results and no others") {
  const auto device = sham_device();
  for (const auto& [name, expected] : kExpected) {
    CAPTURE(name);
    const Told told("wrong=" + name);
    CHECK(join(disagreements(device), ", ") == join(expected, ", "));
  }
}
