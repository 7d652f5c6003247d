// SPDX-License-Identifier: Apache-2.0
// Dice, AVD and MCC against arc-meshchop's values.
#include "ubique/models/meshnet/score/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::meshnet {
namespace {

std::vector<std::uint8_t> bytes_of(const io::SafetensorsFile& file, const std::string& name) {
  const auto* tensor = file.find(name);
  REQUIRE(tensor != nullptr);
  std::vector<std::uint8_t> values;
  for (const auto byte : file.bytes(*tensor)) values.push_back(static_cast<std::uint8_t>(byte));
  return values;
}

}  // namespace

TEST_CASE("metrics: equal to arc-meshchop's, with empty and full maps") {
  const auto folder = test::shared_folder("golden/meshnet");
  if (folder.empty()) return;
  const io::SafetensorsFile file(folder / "metrics.safetensors");
  const auto rows = parse_json(read_file(folder / "metrics.json"), "metrics.json");
  for (const auto& row : rows) {
    const auto index = std::to_string(row["index"].get<int>());
    CAPTURE(index);
    const auto scores =
        compare_labels(bytes_of(file, "pred" + index), bytes_of(file, "target" + index), 2);
    const auto& lesion = scores.at(1);
    CHECK(lesion.tp == row["tp"].get<std::int64_t>());
    CHECK(lesion.fn == row["fn"].get<std::int64_t>());
    CHECK(lesion.dice() == doctest::Approx(row["dice"].get<double>()).epsilon(1e-6));
    CHECK(lesion.mcc() == doctest::Approx(row["mcc"].get<double>()).epsilon(1e-6));
    if (row["avd"].is_string()) {
      CHECK(std::isinf(lesion.avd()));
    } else {
      CHECK(lesion.avd() == doctest::Approx(row["avd"].get<double>()).epsilon(1e-6));
    }
  }
}

TEST_CASE("metrics: the macro Dice is the mean of lesion and background") {
  SubjectScore score;
  score.classes = compare_labels(std::vector<std::uint8_t>{0, 0, 1, 1},
                                 std::vector<std::uint8_t>{0, 1, 1, 1}, 2);
  CHECK(score.lesion_dice() == doctest::Approx(4.0 / 5));
  CHECK(score.classes[0].dice() == doctest::Approx(2.0 / 3));
  CHECK(score.macro_dice() == doctest::Approx((4.0 / 5 + 2.0 / 3) / 2));
  CHECK(score.avd() == doctest::Approx(1.0 / 3));
}

TEST_CASE("metrics: several classes are each counted against all others") {
  const auto scores = compare_labels(std::vector<std::uint8_t>{0, 1, 2, 2, 1},
                                     std::vector<std::uint8_t>{0, 1, 2, 1, 0}, 3);
  CHECK(scores[1].tp == 1);
  CHECK(scores[1].fp == 1);
  CHECK(scores[1].fn == 1);
  CHECK(scores[1].tn == 2);
  CHECK(scores[2].dice() == doctest::Approx(2.0 / 3));
}

TEST_CASE("metrics: a label that the network does not have is named") {
  const auto message = test::refusal_of(ErrorKind::Input, [] {
    compare_labels(std::vector<std::uint8_t>{0}, std::vector<std::uint8_t>{7}, 2);
  });
  CHECK(test::contains(message, "got 7"));
}

}  // namespace ubique::meshnet
