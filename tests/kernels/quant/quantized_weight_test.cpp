// SPDX-License-Identifier: Apache-2.0
// Quantised weights: the numbers of the formats, golden NF4, saving and loading.
#include "ubique/kernels/quant/quantized_weight.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/base/scratch.h"
#include "tests/device.h"
#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/io/graphs/gguf_blocks.h"

using namespace ubique;
using kernels::QuantFormat;
using test::contains;

namespace {

constexpr QuantFormat kAllFormats[] = {QuantFormat::Int8, QuantFormat::Int4, QuantFormat::Nf4};

bool same_values(const at::Tensor& a, const at::Tensor& b) { return at::equal(a.cpu(), b.cpu()); }

}  // namespace

TEST_CASE("quant: int8 and int4 are the blocks of GGUF, there and back without loss") {
  const auto weight = test::random_tensor({5, 96}, 1);
  const std::span values(weight.const_data_ptr<float>(), 5 * 96);
  for (const bool int8 : {true, false}) {
    const auto type = int8 ? io::GgufType::Q8_0 : io::GgufType::Q4_0;
    std::vector<std::byte> blocks(*io::gguf_byte_count(type, {5, 96}));
    auto restored = at::empty_like(weight);
    const std::span out(restored.mutable_data_ptr<float>(), values.size());
    int8 ? io::quantize_q8_0(values, blocks) : io::quantize_q4_0(values, blocks);
    int8 ? io::dequantize_q8_0(blocks, out) : io::dequantize_q4_0(blocks, out);
    const auto quantized =
        kernels::quantize(weight.to(test::kDevice), int8 ? QuantFormat::Int8 : QuantFormat::Int4);
    CHECK((kernels::to_gguf_blocks(quantized) == blocks));
    CHECK(same_values(kernels::dequantize(quantized, at::kFloat), restored));
    const auto again = kernels::from_gguf_blocks(type, 5, 96, blocks);
    CHECK(same_values(again.packed, quantized.packed));
    CHECK(same_values(again.scales, quantized.scales));
  }
}

TEST_CASE("quant: nf4 is bitsandbytes' to the bit, with and without double quantisation") {
  const auto folder = test::shared_folder("golden/codelm/nf4");
  if (folder.empty()) return;
  const auto golden = test::by_name(test::read_tensors(folder / "nf4.safetensors"));
  for (const std::string name : {"w64x96", "w128x160"}) {
    const auto of = [&](const char* key) { return golden.at(name + "/" + key); };
    const auto weight = of("weight").to(test::kDevice);
    const auto once = kernels::quantize(weight, QuantFormat::Nf4);
    CHECK(same_values(once.packed, of("packed")));
    CHECK(same_values(once.scales, of("absmax")));
    CHECK(test::distance(kernels::dequantize(once, at::kFloat), of("dequant")) <= 1e-7);
    const auto twice = kernels::quantize(weight, QuantFormat::Nf4, true);
    CHECK(same_values(twice.packed, of("dq_packed")));
    CHECK(same_values(twice.scales, of("dq_absmax_uint8")));
    CHECK(same_values(twice.scale_code, of("dq_code256")));
    CHECK(same_values(twice.scale_factors, of("dq_absmax2")));
    CHECK(test::distance(twice.scale_mean, of("dq_offset").reshape({1})) <= 1e-8);
    CHECK(test::distance(kernels::dequantize(twice, at::kFloat), of("dq_dequant")) <= 1e-7);
  }
}

TEST_CASE("quant: a restored weight is near the original, and smaller dtypes are its rounding") {
  const auto weight = test::random_tensor({48, 128}, 2).to(test::kDevice);
  const double bounds[] = {0.02, 0.35, 0.45};
  for (const auto format : kAllFormats) {
    const auto quantized = kernels::quantize(weight.to(at::kBFloat16), format);
    const auto restored = kernels::dequantize(quantized, at::kFloat);
    CHECK((restored.device() == weight.device()));
    CHECK(test::distance(restored, weight.to(at::kBFloat16)) < bounds[static_cast<int>(format)]);
    CHECK(same_values(kernels::dequantize(quantized, at::kBFloat16), restored.to(at::kBFloat16)));
  }
}

TEST_CASE("quant: zeros stay zeros") {
  const auto zeros = at::zeros({2, 64}, at::TensorOptions(at::kFloat));
  for (const auto format : kAllFormats) {
    CHECK(same_values(kernels::dequantize(kernels::quantize(zeros, format), at::kFloat), zeros));
  }
  CHECK(same_values(
      kernels::dequantize(kernels::quantize(zeros, QuantFormat::Nf4, true), at::kFloat), zeros));
}

TEST_CASE("quant: what is saved is all that is needed, and what does not fit is refused") {
  const auto weight = test::random_tensor({16, 320}, 3);
  for (const auto format : kAllFormats) {
    const auto quantized = kernels::quantize(weight, format, true);
    auto saved = kernels::saved_tensors(quantized);
    const auto find = [&](const std::string& name) {
      for (const auto& [key, tensor] : saved) {
        if (key == name) return tensor;
      }
      return at::Tensor();
    };
    const auto load = [&](std::int64_t rows) {
      return kernels::load_quantized(format, rows, 320, find);
    };
    CHECK(same_values(kernels::dequantize(load(16), at::kFloat),
                      kernels::dequantize(quantized, at::kFloat)));
    CHECK(contains(test::refusal_of(ErrorKind::Input, [&] { load(32); }), "'packed' does not fit"));
    saved.erase(saved.begin() + 1);
    CHECK(contains(test::refusal_of(ErrorKind::Input, [&] { load(16); }), "'scales' of a"));
  }
  CHECK(contains(
      test::refusal_of(ErrorKind::Input,
                       [&] {
                         kernels::quantize(test::random_tensor({4, 40}, 4), QuantFormat::Int4);
                       }),
      "got (4, 40), expected an input that is a multiple of 32"));
}
