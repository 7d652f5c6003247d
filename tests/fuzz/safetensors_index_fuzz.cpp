// SPDX-License-Identifier: Apache-2.0
// Any text as a safetensors index: an Input error, or file names that stay in their folder and that
// the index written from them names again.
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "ubique/base/error.h"
#include "ubique/io/tensors/safetensors_set.h"

using namespace ubique;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto index =
        io::parse_safetensors_index({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const auto& shard : index.shards()) {
      const std::filesystem::path path(shard);
      require(path.is_relative() && path.filename() == path && shard != "..");
    }
    const auto again = io::parse_safetensors_index(io::safetensors_index_text(index), "again");
    require(again.weight_map == index.weight_map && again.total_size == index.total_size);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Input);
  }
  return 0;
}
