// SPDX-License-Identifier: Apache-2.0
// Shuffled splits against NumPy.
#include "ubique/data/images/splits.h"

#include <algorithm>
#include <numeric>

#include "goldens.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

using namespace ubique;
using Indices = std::vector<std::int64_t>;

TEST_CASE("splits: shuffles begin as NumPy's do") {
  const auto start = [](std::int64_t n) {
    auto order = data::numpy_shuffle(n);
    order.resize(4);
    return order;
  };
  CHECK(start(1003) == Indices{626, 629, 847, 514});
  CHECK(start(100) == Indices{83, 53, 70, 45});
  CHECK(start(149) == Indices{73, 18, 117, 78});
  CHECK(start(5168) == Indices{1564, 2916, 3414, 3159});
}

TEST_CASE("splits: every dataset's whole shuffle is NumPy's") {
  const auto folder = test::shared_folder("golden/msinet/splits");
  if (folder.empty()) return;
  const auto golden = parse_json(read_file(folder / "splits.json"), "splits.json");
  int count = 0;
  for (const auto& [name, entry] : golden["splits"].items()) {
    if (!entry.contains("n")) continue;
    CAPTURE(name);
    const auto order = data::numpy_shuffle(entry["n"].get<std::int64_t>());
    const auto train = entry["n_train"].get<std::ptrdiff_t>();
    CHECK(Indices(order.begin(), order.begin() + 10) == entry["first10"].get<Indices>());
    CHECK(Indices(order.end() - 5, order.end()) == entry["last5"].get<Indices>());
    CHECK(Indices(order.begin() + train, order.begin() + train + 5) ==
          entry["first5_valid"].get<Indices>());
    std::int64_t weighted = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      weighted += order[i] * static_cast<std::int64_t>(i + 1);
    }
    CHECK(weighted == entry["weighted_checksum"].get<std::int64_t>());
    CHECK(std::accumulate(order.begin(), order.begin() + train, std::int64_t{0}) ==
          entry["sum_of_first_n_train"].get<std::int64_t>());
    ++count;
  }
  CHECK(count == 7);
}

TEST_CASE("splits: each file is in one part, each class is cut alike") {
  const auto split = data::split_by_class(3, 4, 2);
  CHECK(split.train.size() == 12);
  CHECK(split.valid.size() == 6);
  Indices all = split.train;
  all.insert(all.end(), split.valid.begin(), split.valid.end());
  std::sort(all.begin(), all.end());
  Indices want(18);
  std::iota(want.begin(), want.end(), 0);
  CHECK(all == want);
  for (std::size_t i = 0; i < 2; ++i) CHECK(split.valid[i + 2] == split.valid[i] + 6);
}

TEST_CASE("splits: few files are shuffled too, and a negative number is refused") {
  CHECK(data::numpy_shuffle(0).empty());
  CHECK(data::numpy_shuffle(1) == Indices{0});
  CHECK(test::error_of([] { data::numpy_shuffle(-1); }).starts_with("usage: [data.numpy]"));
}
