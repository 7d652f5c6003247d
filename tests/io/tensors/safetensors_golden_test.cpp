// SPDX-License-Identifier: Apache-2.0
// Files written by Python's safetensors: read, written again and compared byte by byte; skipped
// where the golden files are missing.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_set.h"
#include "ubique/io/tensors/safetensors_writer.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

const fs::path kGolden = fs::path(UBIQUE_SOURCE_DIR) / ".." / "shared" / "golden";

bool golden_missing() {
  if (fs::exists(kGolden)) return false;
  MESSAGE("skipped: no ", kGolden.string());
  return true;
}

std::vector<io::TensorData> all_of(const io::SafetensorsFile& file) {
  std::vector<io::TensorData> tensors;
  for (const auto& tensor : file.tensors()) {
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, file.bytes(tensor)});
  }
  return tensors;
}

}  // namespace

TEST_CASE("safetensors: files from Python come back bit by bit") {
  if (golden_missing()) return;
  const test::ScratchFolder folder;
  int count = 0;
  for (const auto& found : fs::recursive_directory_iterator(kGolden)) {
    if (found.path().extension() != ".safetensors") continue;
    CAPTURE(found.path().string());
    const io::SafetensorsFile file(found.path());
    io::write_safetensors(folder / "x", all_of(file), file.metadata());
    CHECK(read_file(folder / "x") == read_file(found.path()));
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("safetensors: a sharded model from Python is one set, and so is its copy") {
  const auto path = kGolden / "codelm" / "starcoder2_untied";
  if (golden_missing() || !fs::exists(path)) return;
  const io::SafetensorsSet set(path);
  CHECK(set.files().size() == 2);
  const auto size =
      std::accumulate(set.tensors().begin(), set.tensors().end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& tensor) { return sum + tensor.size(); });
  CHECK(set.stated_size() == size);
  CHECK(set.find("lm_head.weight") != nullptr);

  std::vector<io::TensorData> tensors;
  for (const auto& file : set.files()) {
    for (auto& tensor : all_of(file)) tensors.push_back(std::move(tensor));
  }
  const test::ScratchFolder folder;
  io::write_sharded_safetensors(folder.path(), tensors, 900'000, set.metadata());
  const io::SafetensorsSet copy(folder.path());
  REQUIRE(copy.tensors().size() == set.tensors().size());
  for (const auto& tensor : set.tensors()) {
    const auto* same = copy.find(tensor.name);
    REQUIRE(same != nullptr);
    CHECK(test::text_of(copy.bytes(*same)) == test::text_of(set.bytes(tensor)));
  }
}
