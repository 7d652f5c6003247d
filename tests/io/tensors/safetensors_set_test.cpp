// SPDX-License-Identifier: Apache-2.0
// Models in one or several files: which file is opened, and errors.
#include "ubique/io/tensors/safetensors_set.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/io/tensors/safetensors_writer.h"

using namespace ubique;
using io::SafetensorsSet;
using io::TensorData;

namespace {

const std::string kData = "0123456789abcdef0123456789ABCDEF";

/// t0 .. t3, 8 bytes each.
std::vector<TensorData> four_tensors() {
  std::vector<TensorData> tensors;
  for (std::size_t i = 0; i < 4; ++i) {
    tensors.push_back({"t" + std::to_string(i),
                       DType::F32,
                       {2},
                       test::bytes_of(std::string_view(kData).substr(8 * i, 8))});
  }
  return tensors;
}

void check_four(const std::filesystem::path& path) {
  const SafetensorsSet set(path);
  REQUIRE(set.tensors().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto* tensor = set.find("t" + std::to_string(i));
    REQUIRE(tensor != nullptr);
    CHECK(test::text_of(set.bytes(*tensor)) == kData.substr(8 * i, 8));
    std::string out(8, ' ');
    set.read(*tensor, std::as_writable_bytes(std::span(out)));
    CHECK(out == kData.substr(8 * i, 8));
  }
  CHECK(set.find("t4") == nullptr);
  CHECK(set.metadata() == io::Metadata{{"format", "pt"}});
}

std::string error_of_opening(const std::filesystem::path& path) {
  return test::error_of([&] { SafetensorsSet set(path); });
}

}  // namespace

TEST_CASE("safetensors set: what fits into one file is one file") {
  const test::ScratchFolder folder;
  const auto written =
      io::write_sharded_safetensors(folder.path(), four_tensors(), 32, {{"format", "pt"}});
  REQUIRE(written.size() == 1);
  CHECK(written[0].filename() == "model.safetensors");
  check_four(folder.path());
  check_four(written[0]);
  CHECK(!SafetensorsSet(folder.path()).stated_size().has_value());
}

TEST_CASE("safetensors set: shards are filled up to the limit and found by their index") {
  const test::ScratchFolder folder;
  const auto written =
      io::write_sharded_safetensors(folder / "m", four_tensors(), 31, {{"format", "pt"}});
  REQUIRE(written.size() == 3);
  CHECK(written[0].filename() == "model-00001-of-00002.safetensors");
  CHECK(written[1].filename() == "model-00002-of-00002.safetensors");
  CHECK(written[2].filename() == "model.safetensors.index.json");
  check_four(folder / "m");
  check_four(written[2]);
  const SafetensorsSet set(folder / "m");
  CHECK(set.files().size() == 2);
  CHECK(set.files()[0].tensors().size() == 3);
  CHECK(&set.file_of(*set.find("t3")) == &set.files()[1]);
  CHECK(set.stated_size() == 32U);
}

TEST_CASE("safetensors set: a tensor larger than the limit gets a shard of its own") {
  const test::ScratchFolder folder;
  const auto written =
      io::write_sharded_safetensors(folder.path(), four_tensors(), 1, {{"format", "pt"}});
  CHECK(written.size() == 5);
  check_four(folder.path());
}

TEST_CASE("safetensors set: writing again replaces the other form") {
  const test::ScratchFolder folder;
  const io::Metadata metadata = {{"format", "pt"}};
  io::write_sharded_safetensors(folder.path(), four_tensors(), 32, metadata);
  io::write_sharded_safetensors(folder.path(), four_tensors(), 16, metadata);
  CHECK(!std::filesystem::exists(folder / "model.safetensors"));
  check_four(folder.path());
  io::write_sharded_safetensors(folder.path(), four_tensors(), 32, metadata);
  CHECK(!std::filesystem::exists(folder / "model.safetensors.index.json"));
  check_four(folder.path());
}

TEST_CASE("safetensors set: a name given to two shards is refused before anything is written") {
  const test::ScratchFolder folder;
  auto tensors = four_tensors();
  tensors[3].name = "t0";
  const auto error =
      test::error_of([&] { io::write_sharded_safetensors(folder / "m", tensors, 8); });
  CHECK(test::contains(error, "two tensors have the name 't0'"));
  CHECK(folder.count() == 0);
}

TEST_CASE("safetensors set: a missing shard and a missing tensor are named") {
  const test::ScratchFolder folder;
  io::write_sharded_safetensors(folder.path(), four_tensors(), 16);
  const auto second = folder / "model-00002-of-00002.safetensors";
  io::write_safetensors(second, std::vector{four_tensors()[2]});
  auto error = error_of_opening(folder.path());
  CHECK(error.starts_with("input: "));
  CHECK(test::contains(error, "tensor 't3' is not in model-00002-of-00002.safetensors"));
  std::filesystem::remove(second);
  error = error_of_opening(folder.path());
  CHECK(error.starts_with("input: "));
  CHECK(test::contains(error, "names the file model-00002-of-00002.safetensors, which is missing"));
}

TEST_CASE("safetensors set: what the index does not name is not there") {
  const test::ScratchFolder folder;
  io::write_safetensors(folder / "a", std::vector{four_tensors()[0], four_tensors()[1]});
  io::write_safetensors(folder / "b", std::vector{four_tensors()[1]});
  write_file(folder / "i.json", R"({"weight_map": {"t0": "a", "t1": "b"}})");
  const SafetensorsSet set(folder / "i.json");
  CHECK(set.tensors().size() == 2);
  CHECK(set.file_of(*set.find("t1")).name() == (folder / "b").string());
}

TEST_CASE("safetensors set: a damaged shard is an error that names it") {
  const test::ScratchFolder folder;
  const auto written = io::write_sharded_safetensors(folder.path(), four_tensors(), 16);
  std::filesystem::resize_file(written[1], 100);
  const auto error = error_of_opening(folder.path());
  CHECK(error.starts_with("input: "));
  CHECK(test::contains(error, "model-00002-of-00002.safetensors"));
}

TEST_CASE("safetensors set: a folder is opened only if it is plain which file is meant") {
  const test::ScratchFolder folder;
  CHECK(test::contains(error_of_opening(folder.path()), "got no .safetensors file"));
  write_file(folder / "one.safetensors", test::small_file());
  CHECK(SafetensorsSet(folder.path()).tensors().size() == 3);
  write_file(folder / "two.safetensors", test::small_file());
  CHECK(test::contains(error_of_opening(folder.path()), "got one.safetensors, two.safetensors"));
  write_file(folder / "model.safetensors", test::small_file());
  CHECK(SafetensorsSet(folder.path()).tensors().size() == 3);
  CHECK(error_of_opening(folder / "absent").starts_with("input: "));
}

TEST_CASE("safetensors set: statistics of a file that becomes shorter are an input error") {
  const test::ScratchFolder folder;
  const std::vector<float> values(100'000, 1.5F);
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<TensorData> tensors = {{"t", DType::F32, {100'000}, bytes}};
  io::write_sharded_safetensors(folder.path(), tensors, 1 << 30, {});
  const SafetensorsSet set(folder.path());
  const auto stats = set.stats(*set.find("t"));
  REQUIRE(stats.has_value());
  CHECK(stats->count == 100'000);
  CHECK(stats->mean == 1.5);
  CHECK(stats->std == 0);
  std::filesystem::resize_file(folder / "model.safetensors", 1000);
  CHECK(test::contains(test::error_of([&] { set.stats(*set.find("t")); }),
                       "input: [io.read] cannot read"));
}
