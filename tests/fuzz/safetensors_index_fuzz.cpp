// SPDX-License-Identifier: Apache-2.0
// Any text as a safetensors index: an Input error, or file names that stay in their folder and
// survive being written and read again.
#include <filesystem>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/tensors/safetensors_set.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  const auto index = io::parse_safetensors_index(fuzz::text_of(input), "fuzz");
  for (const auto& shard : index.shards()) {
    const std::filesystem::path path(shard);
    require(path.is_relative() && path.filename() == path && shard != "..");
  }
  const auto again = io::parse_safetensors_index(io::safetensors_index_text(index), "again");
  require(again.weight_map == index.weight_map && again.total_size == index.total_size);
}
