// SPDX-License-Identifier: Apache-2.0
// Time of the matrix products of one decoding step of a code language model with 164 million
// weights (GPT-BigCode: 20 layers, width 768, one KV head, inner 3072, vocabulary 49152), for each
// way to keep the weights. Prints one line of JSON a way. Arguments: threads, rounds, one way only.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/kernels/quant/quantized_linear.h"

using namespace ubique;

namespace {

struct Matrix {
  std::int64_t rows, columns;
};

constexpr std::int64_t kLayers = 20;
constexpr Matrix kLayerShapes[] = {{896, 768}, {768, 768}, {3072, 768}, {768, 3072}};
constexpr Matrix kHead = {49152, 768};

std::vector<Matrix> all_shapes() {
  std::vector<Matrix> shapes;
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    shapes.insert(shapes.end(), std::begin(kLayerShapes), std::end(kLayerShapes));
  }
  shapes.push_back(kHead);
  return shapes;
}

at::Tensor random_matrix(Matrix shape, std::uint64_t seed) {
  auto tensor = at::empty({shape.rows, shape.columns}, at::TensorOptions(at::kFloat));
  Random(seed).fill_normal(
      {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())}, 0, 0.02F);
  return tensor;
}

using Product = std::function<at::Tensor(const at::Tensor&)>;

struct Times {
  double median = 0, best = 0;
};

Times times_ms(const std::vector<Product>& products, const std::vector<at::Tensor>& inputs,
               int rounds) {
  std::vector<double> times;
  for (int round = -3; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < products.size(); ++i) products[i](inputs[i]);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    if (round >= 0) times.push_back(taken.count());
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

void report(const std::string& name, std::int64_t rows, int rounds, double bytes,
            const std::function<Product(const at::Tensor&)>& make) {
  std::vector<Product> products;
  std::vector<at::Tensor> inputs;
  std::uint64_t seed = 1;
  for (const auto shape : all_shapes()) {
    products.push_back(make(random_matrix(shape, ++seed)));
    inputs.push_back(random_matrix({rows, shape.columns}, ++seed));
  }
  const auto [ms, best] = times_ms(products, inputs, rounds);
  std::int64_t weights = 0;
  for (const auto shape : all_shapes()) weights += shape.rows * shape.columns;
  fmt::print(
      "{{\"weights\": \"{}\", \"rows\": {}, \"threads\": {}, \"ms\": {:.3f}, \"best_ms\": {:.3f}, "
      "\"steps_per_s\": {:.1f}, \"gb_per_s\": {:.1f}}}\n",
      name, rows, at::get_num_threads(), ms, best, 1000 / ms,
      bytes * static_cast<double>(weights) / ms / 1e6);
  std::fflush(stdout);
}

Product quantized(const at::Tensor& weight, kernels::QuantFormat format) {
  auto packed = kernels::quantize(weight, format);
  return [packed](const at::Tensor& x) { return kernels::quantized_linear(x, packed); };
}

Product plain(const at::Tensor& weight, at::ScalarType dtype) {
  const auto cast = weight.to(dtype);
  return [cast, dtype](const at::Tensor& x) { return at::linear(x.to(dtype), cast); };
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 2);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 30;
  const std::string only = argc > 3 ? argv[3] : "";
  const at::NoGradGuard no_gradients;
  using kernels::QuantFormat;
  for (const std::int64_t rows : {1, 8}) {
    const auto run = [&](const std::string& name, double bytes,
                         const std::function<Product(const at::Tensor&)>& make) {
      if (only.empty() || only == name) report(name, rows, rounds, bytes, make);
    };
    run("int8", 34.0 / 32, [](const auto& w) { return quantized(w, QuantFormat::Int8); });
    run("int4", 18.0 / 32, [](const auto& w) { return quantized(w, QuantFormat::Int4); });
    run("nf4", 0.5625, [](const auto& w) { return quantized(w, QuantFormat::Nf4); });
    run("f32", 4, [](const auto& w) { return plain(w, at::kFloat); });
    run("bf16", 2, [](const auto& w) { return plain(w, at::kBFloat16); });
  }
}
