// SPDX-License-Identifier: Apache-2.0
// Attention, embedding and choice of a decoding step (sources/decode/decode_attend.cu,
// decode_ends.cu), run on the host thread by thread, against double.
#include <doctest/doctest.h>

#include "tests/backend/cuda/emulated/cuda.h"

namespace ubique::test::emulated::decode_attention {

namespace narrow {
#define SIZE 64
#define WARPS 16
#define decode_attend narrow_attend
alignas(16) unsigned char memory[1 << 17];
#include "ubique/backend/cuda/sources/decode/decode_attend.cu"
#undef decode_attend
#undef SIZE
#undef WARPS
}  // namespace narrow

namespace broad {
#define SIZE 128
#define WARPS 8
#define decode_attend broad_attend
alignas(16) unsigned char memory[1 << 17];
#include "ubique/backend/cuda/sources/decode/decode_attend.cu"
#undef decode_attend
#undef SIZE
#undef WARPS
}  // namespace broad

namespace ends {
alignas(16) unsigned char memory[1 << 12];
#include "ubique/backend/cuda/sources/decode/decode_ends.cu"
}  // namespace ends

using Values = std::vector<Scalar>;

struct Case {
  int heads, kv_heads, capacity, window = 0;
  bool by_head = false, normed = false;
  int rotary = 0;
  std::vector<long long> positions;
};

/// What the reference and the kernel read.
struct Memory {
  Values qkv, keys, values;
  std::vector<float> query_norm, key_norm, cos, sin;
};

/// A head of a row, normed and rotated; rounded where the kernel stores it.
template <int size>
std::vector<double> head_of(const Case& how, const Memory& memory, int text, int first,
                            const std::vector<float>* norm, bool rotates) {
  const int row = (how.heads + 2 * how.kv_heads) * size;
  std::vector<double> x;
  for (int d = 0; d < size; ++d) x.push_back(to_float(memory.qkv[text * row + first + d]));
  const auto rounded = [](double value) { return to_float(to_scalar(static_cast<float>(value))); };
  if (how.normed && norm != nullptr) {
    double squares = 0;
    for (const auto value : x) squares += value * value / size;
    for (int d = 0; d < size; ++d) {
      x[d] = rounded(x[d] / std::sqrt(squares + 1e-5) * norm->at(d));
    }
  }
  if (how.rotary > 0 && rotates) {
    const auto before = x;
    const int half = how.rotary / 2;
    const auto* cos = memory.cos.data() + how.positions[text] * how.rotary;
    const auto* sin = memory.sin.data() + how.positions[text] * how.rotary;
    for (int d = 0; d < how.rotary; ++d) {
      const double partner = d < half ? -before[d + half] : before[d - half];
      x[d] = before[d] * cos[d] + partner * sin[d];
    }
  }
  for (auto& value : x) value = rounded(value);
  return x;
}

template <int size, typename Kernel, typename Places, typename Texts, typename Turning>
void check_case(const Case& how, Kernel kernel, int warps) {
  const int texts = static_cast<int>(how.positions.size()), sharing = how.heads / how.kv_heads;
  const int row = (how.heads + 2 * how.kv_heads) * size, groups = (sharing + 15) / 16;
  const int units = texts * how.kv_heads * groups, splits = (how.capacity + 511) / 512;
  Memory memory{noise(texts * row, 1, 2),
                noise(texts * how.kv_heads * how.capacity * size, 2, 2),
                noise(texts * how.kv_heads * how.capacity * size, 3),
                widened(noise(size, 4)),
                widened(noise(size, 5)),
                widened(noise(how.capacity * how.rotary, 6)),
                widened(noise(how.capacity * how.rotary, 7))};
  const auto cached_at = [&](int text, int head, long long position) {
    return ((text * how.kv_heads + head) * how.capacity + position) * size;
  };
  for (int text = 0; text < texts; ++text) {
    for (int head = 0; head < how.kv_heads; ++head) {  // nothing must be read from here on
      for (auto at = cached_at(text, head, how.positions[text]);
           at < cached_at(text, head, how.capacity); ++at) {
        memory.keys[at] = memory.values[at] = 0x7fc0;
      }
    }
  }
  const auto before = memory;
  const Places places =
      how.by_head ? Places{row, 0, size, 2 * size, 3 * size, 3 * size}
                  : Places{row, 0, how.heads * size, (how.heads + how.kv_heads) * size, size, size};
  std::vector<float> partial(units * splits * 16 * (size + 2), NAN);
  std::vector<unsigned> counters(units, 0);
  Values mixed(texts * how.heads * size, 0x7fc0);
  const Texts kept{memory.keys.data(), memory.values.data(), how.kv_heads, how.capacity,
                   how.window};
  const Turning turning{how.normed ? memory.query_norm.data() : nullptr,
                        how.normed ? memory.key_norm.data() : nullptr,
                        how.rotary > 0 ? memory.cos.data() : nullptr,
                        how.rotary > 0 ? memory.sin.data() : nullptr,
                        how.rotary,
                        1e-5F};
  const float scale = 1.4426950408889634F / std::sqrt(static_cast<float>(size));
  launch(units * splits, 32 * warps, [&] {
    kernel(memory.qkv.data(), places, how.positions.data(), kept, turning, partial.data(),
           counters.data(), mixed.data(), how.heads, splits, scale);
  });
  for (const auto counter : counters) CHECK(counter == 0);
  double worst = 0, stored = 0;
  for (int text = 0; text < texts; ++text) {
    const auto last = how.positions[text];
    const auto first = how.window > 0 ? std::max(0LL, last + 1 - how.window) : 0;
    for (int head = 0; head < how.heads; ++head) {
      const int kv_head = head / sharing;
      const auto place = [&](int which, int at) {  // query, key, value
        const int starts[] = {places.query, places.key, places.value};
        return starts[which] + at * (which == 0 ? places.query_stride : places.key_stride);
      };
      const auto q = head_of<size>(how, memory, text, place(0, head), &memory.query_norm, true);
      const auto k = head_of<size>(how, memory, text, place(1, kv_head), &memory.key_norm, true);
      const auto v = head_of<size>(how, memory, text, place(2, kv_head), nullptr, false);
      std::vector<double> scores, sum(size, 0);
      double largest = -INFINITY, weight = 0;
      for (auto position = first; position <= last; ++position) {
        const auto* key = before.keys.data() + cached_at(text, kv_head, position);
        double score = 0;
        for (int d = 0; d < size; ++d) score += q[d] * (position == last ? k[d] : to_float(key[d]));
        scores.push_back(score / std::sqrt(static_cast<double>(size)));
        largest = std::max(largest, scores.back());
      }
      for (auto position = first; position <= last; ++position) {
        const auto* value = before.values.data() + cached_at(text, kv_head, position);
        const double share = std::exp(scores[position - first] - largest);
        weight += share;
        for (int d = 0; d < size; ++d) {
          sum[d] += share * (position == last ? v[d] : to_float(value[d]));
        }
      }
      const auto* got = mixed.data() + (text * how.heads + head) * size;
      const auto* new_key = memory.keys.data() + cached_at(text, kv_head, last);
      const auto* new_value = memory.values.data() + cached_at(text, kv_head, last);
      for (int d = 0; d < size; ++d) {
        const auto off = std::abs(to_float(got[d]) - sum[d] / weight);
        worst = std::max(worst, std::isnan(off) ? INFINITY : off);
        // Rounding may go the other way where the double is between two numbers.
        stored = std::max(stored, std::abs(to_float(new_key[d]) - k[d]) / (std::abs(k[d]) + 0.1));
        stored = std::max(stored, std::abs(to_float(new_value[d]) - v[d]));
      }
    }
  }
  CHECK(worst < 8e-3);
  CHECK(stored < 8e-3);
}

void check_narrow(const Case& how) {
  check_case<64, decltype(&narrow::narrow_attend), narrow::HeadPlaces, narrow::Texts,
             narrow::Turning>(how, &narrow::narrow_attend, 16);
}
void check_broad(const Case& how) {
  check_case<128, decltype(&broad::broad_attend), broad::HeadPlaces, broad::Texts, broad::Turning>(
      how, &broad::broad_attend, 8);
}

TEST_CASE("cuda decode attention: heads that share one key, texts of any length, against double") {
  check_narrow({.heads = 12, .kv_heads = 1, .capacity = 300, .positions = {0, 5, 15, 16, 255}});
  check_narrow({.heads = 12, .kv_heads = 1, .capacity = 700, .positions = {256, 511, 512, 699}});
  check_broad({.heads = 16, .kv_heads = 1, .capacity = 2600, .positions = {0, 100, 599, 2599}});
}

TEST_CASE("cuda decode attention: more than 16 heads that share a key, and a key for each head") {
  check_narrow({.heads = 40, .kv_heads = 2, .capacity = 400, .positions = {7, 300}});
  check_broad(
      {.heads = 3, .kv_heads = 3, .capacity = 290, .by_head = true, .positions = {31, 270}});
}

TEST_CASE("cuda decode attention: rotation and norms of heads, whole or in part") {
  for (const int rotary : {32, 64}) {
    check_narrow({.heads = 4,
                  .kv_heads = 2,
                  .capacity = 290,
                  .normed = rotary == 64,
                  .rotary = rotary,
                  .positions = {0, 40, 289}});
  }
  check_broad({.heads = 8,
               .kv_heads = 2,
               .capacity = 100,
               .normed = true,
               .rotary = 128,
               .positions = {99}});
}

TEST_CASE("cuda decode attention: a window ends at the position and may begin in any span") {
  for (const int window : {1, 17, 300}) {
    CAPTURE(window);
    check_narrow({.heads = 12,
                  .kv_heads = 1,
                  .capacity = 900,
                  .window = window,
                  .positions = {0, 16, 256, 271, 520, 600, 899}});
  }
}

TEST_CASE("cuda decode ends: the embedding of ids and positions") {
  const auto tokens = noise(10 * 24, 1), places = noise(6 * 24, 2);
  const long long inputs[] = {9, 0, 3, 5, 0, 1};
  for (const bool placed : {false, true}) {
    Values x(3 * 24);
    launch(3, 256, [&] {
      ends::decode_embed(inputs, reinterpret_cast<const Vector*>(tokens.data()),
                         placed ? reinterpret_cast<const Vector*>(places.data()) : nullptr,
                         reinterpret_cast<Vector*>(x.data()), 3, 3);
    });
    for (int row = 0; row < 3; ++row) {
      for (int i = 0; i < 24; ++i) {
        const float place = placed ? to_float(places[inputs[3 + row] * 24 + i]) : 0;
        CHECK(x[row * 24 + i] == to_scalar(to_float(tokens[inputs[row] * 24 + i]) + place));
      }
    }
  }
}

TEST_CASE("cuda decode ends: the likeliest token is the first of equal ones, NaN is found") {
  const float low = -INFINITY;
  // Three blocks' finds for each of four rows; the last row's text is at its end.
  const std::vector<Best> best = {{1, 7},   {5, 40}, {2, 3},   {1, 2},   {3, 90}, {5, 8},
                                  {NAN, 4}, {0, 1},  {low, 0}, {low, 0}, {9, 6},  {-1, 0}};
  const long long inputs[] = {100, 101, 102, 103, 10, 20, 30, 63};
  std::vector<float> likeliest(8);
  std::vector<long long> next(8);
  launch(4, 256, [&] {
    ends::decode_choose(best.data(), inputs, likeliest.data(), next.data(), 3, 4, 64);
  });
  CHECK(likeliest[0] == 90);
  CHECK(likeliest[1] == 3);
  CHECK(likeliest[2] == 8);
  CHECK(likeliest[4] == 4);
  CHECK(std::isnan(likeliest[5]));
  CHECK(likeliest[6] == 2);
  CHECK(next == std::vector<long long>{90, 8, 4, 103, 11, 21, 31, 63});
}

}  // namespace ubique::test::emulated::decode_attention
