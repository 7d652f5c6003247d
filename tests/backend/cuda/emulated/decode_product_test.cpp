// SPDX-License-Identifier: Apache-2.0
// The products of a decoding step (sources/decode/decode_product.cu), run on the host thread by
// thread, against sums in double.
#include <doctest/doctest.h>

#include "tests/backend/cuda/emulated/cuda.h"

namespace ubique::test::emulated::decode_products {

namespace even {  // whole turns of all warps, several tiles
#define ROWS 8
#define WIDTH 512
#define PIECES 1
#define TILES 3
#define GATED 0
#define NORMED 0
#define decode_product even_product
#include "tests/backend/cuda/emulated/decode_product_case.h"
}  // namespace even

namespace even_normed {
#define ROWS 8
#define WIDTH 512
#define PIECES 1
#define TILES 3
#define GATED 0
#define NORMED 1
#define decode_product even_normed_product
#include "tests/backend/cuda/emulated/decode_product_case.h"
}  // namespace even_normed

namespace odd {  // warps without a turn, rows in pieces, two halves of rows
#define ROWS 16
#define WIDTH 1184
#define PIECES 37
#define TILES 1
#define GATED 0
#define NORMED 0
#define decode_product odd_product
#include "tests/backend/cuda/emulated/decode_product_case.h"
}  // namespace odd

namespace chunks {  // more weights than are loaded at a time, a partial last turn
#define ROWS 16
#define WIDTH 1824
#define PIECES 1
#define TILES 4
#define GATED 0
#define NORMED 1
#define decode_product chunks_product
#include "tests/backend/cuda/emulated/decode_product_case.h"
}  // namespace chunks

namespace gated {
#define ROWS 8
#define WIDTH 96
#define PIECES 1
#define TILES 4
#define GATED 1
#define NORMED 1
#define decode_product gated_product
#include "tests/backend/cuda/emulated/decode_product_case.h"
}  // namespace gated

struct Case {
  int rows, width;
  std::vector<int> features;  // of each layer
  int norm = 0;               // 1 RMS, 2 layer norm
  int activation = 0;
  bool biased = false, adds = false, chooses = false, gated = false;
  unsigned blocks = 3;
};

/// Rows as the product reads them: normed and rounded.
std::vector<double> normed_rows(const Case& how, const std::vector<Scalar>& x,
                                const std::vector<float>& weight, const std::vector<float>& bias) {
  std::vector<double> rows;
  const auto width = static_cast<std::size_t>(how.width);
  for (std::size_t row = 0; row < static_cast<std::size_t>(how.rows); ++row) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < width; ++i) mean += to_float(x[row * width + i]) / how.width;
    if (how.norm != 2) mean = 0;
    for (std::size_t i = 0; i < width; ++i) {
      squares += std::pow(to_float(x[row * width + i]) - mean, 2) / how.width;
    }
    for (std::size_t i = 0; i < width; ++i) {
      double value = to_float(x[row * width + i]);
      if (how.norm != 0) {
        value = (value - mean) / std::sqrt(squares + 1e-5) * weight[i] + bias[i];
        value = to_float(to_scalar(static_cast<float>(value)));
      }
      rows.push_back(value);
    }
  }
  return rows;
}

double activated(double x, int kind) {
  if (kind == 1) return x / (1 + std::exp(-x));
  if (kind == 2) return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  if (kind == 3) return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

double product_of(const double* row, const Scalar* weight, int width) {
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += row[i] * to_float(weight[i]);
  return sum;
}

template <typename Layers, typename Kernel>
void check_case(const Case& how, Kernel kernel) {
  const auto rows = static_cast<std::size_t>(how.rows), width = static_cast<std::size_t>(how.width);
  const auto x = noise(rows * width, 1, 3);
  const auto norm_weight = widened(noise(width, 2)), norm_bias = widened(noise(width, 3));
  std::vector<std::vector<Scalar>> weights;
  std::vector<std::vector<float>> biases;
  Layers layers{};
  int features = 0;
  for (std::size_t i = 0; i < how.features.size(); ++i) {
    const auto count = static_cast<std::size_t>(how.features[i]);
    weights.push_back(noise(count * width, 10 + static_cast<unsigned>(i), 0.2F));
    biases.push_back(widened(noise(count, 20 + static_cast<unsigned>(i))));
    features = how.gated ? how.features[i] : features + how.features[i];
    layers.weight[i] = reinterpret_cast<const Vector*>(weights[i].data());
    if (how.biased) layers.bias[i] = biases[i].data();
    layers.ends[i] = features;
  }
  for (std::size_t i = how.features.size(); i < 3; ++i) layers.ends[i] = features;
  const auto outputs = rows * static_cast<std::size_t>(features);
  const auto residual = noise(outputs, 5, 2);
  std::vector<Scalar> out(outputs, 0x7fc0);
  std::vector<float> logits(outputs, NAN);
  std::vector<Best> best(how.blocks * rows, Best{NAN, -1});
  launch(how.blocks, 256, [&] {
    kernel(reinterpret_cast<const Vector*>(x.data()), norm_weight.data(), norm_bias.data(),
           how.norm, 1e-5F, layers, how.adds ? residual.data() : nullptr, out.data(),
           how.chooses ? logits.data() : nullptr, how.chooses ? best.data() : nullptr, how.rows,
           features, how.activation);
  });
  const auto normed = normed_rows(how, x, norm_weight, norm_bias);
  double worst = 0, largest = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    Best expected_best{-INFINITY, 0};
    for (int f = 0; f < features; ++f) {
      const auto value_of = [&](std::size_t layer, int feature) {
        const double sum = product_of(
            normed.data() + row * width,
            weights[layer].data() + static_cast<std::size_t>(feature) * width, how.width);
        return sum + (how.biased ? biases[layer][static_cast<std::size_t>(feature)] : 0);
      };
      const auto place = row * static_cast<std::size_t>(features) + static_cast<std::size_t>(f);
      double expected = 0;
      if (how.gated) {
        expected = activated(value_of(0, f), how.activation) * value_of(1, f);
      } else {
        std::size_t layer = 0;
        while (f >= layers.ends[layer]) ++layer;
        expected = activated(value_of(layer, f - (layer == 0 ? 0 : layers.ends[layer - 1])),
                             how.activation);
        if (how.adds) expected += to_float(residual[place]);
      }
      const double got = how.chooses ? logits[place] : to_float(out[place]);
      if (how.chooses) expected_best = better(expected_best, {logits[place], f});
      worst = std::max(worst, std::isnan(got) ? INFINITY : std::abs(got - expected));
      largest = std::max(largest, std::abs(expected));
    }
    if (!how.chooses) continue;
    Best found{-INFINITY, 0x7fffffff};
    for (unsigned block = 0; block < how.blocks; ++block) {
      found = better(found, best[block * rows + row]);
    }
    CHECK(found.place == expected_best.place);
    CHECK(found.value == expected_best.value);
  }
  CHECK(worst < (how.chooses ? 2e-3 : 4e-3) * largest);
}

TEST_CASE("cuda decode product: rows, layers side by side, biases and residuals against double") {
  for (const int rows : {1, 3, 8}) {
    CAPTURE(rows);
    check_case<even::Layers>({.rows = rows, .width = 512, .features = {40}, .adds = true},
                             even::even_product);
    check_case<even_normed::Layers>(
        {.rows = rows, .width = 512, .features = {48, 8, 16}, .norm = 2, .biased = true},
        even_normed::even_normed_product);
  }
}

TEST_CASE("cuda decode product: rows in pieces, and warps with nothing to do, against double") {
  for (const int rows : {2, 9, 16}) {
    CAPTURE(rows);
    check_case<odd::Layers>(
        {.rows = rows, .width = 1184, .features = {24}, .biased = true, .adds = true},
        odd::odd_product);
  }
}

TEST_CASE("cuda decode product: norms and activations over several loads of weights") {
  for (const int rows : {1, 11, 16}) {
    for (const int activation : {1, 2, 3}) {
      CAPTURE(rows);
      CAPTURE(activation);
      check_case<chunks::Layers>({.rows = rows,
                                  .width = 1824,
                                  .features = {72},
                                  .norm = activation % 2 + 1,
                                  .activation = activation,
                                  .blocks = 2},
                                 chunks::chunks_product);
    }
  }
}

TEST_CASE("cuda decode product: gates times what they let through against double") {
  for (const int rows : {1, 5, 8}) {
    check_case<gated::Layers>({.rows = rows,
                               .width = 96,
                               .features = {40, 40},
                               .norm = 1,
                               .activation = 1,
                               .biased = rows == 5,
                               .gated = true},
                              gated::gated_product);
  }
}

TEST_CASE("cuda decode product: logits in f32 with the likeliest of every row, also without work") {
  for (const unsigned blocks : {1U, 2U, 9U}) {
    check_case<even_normed::Layers>(
        {.rows = 5, .width = 512, .features = {104}, .norm = 2, .chooses = true, .blocks = blocks},
        even_normed::even_normed_product);
  }
}

}  // namespace ubique::test::emulated::decode_products
