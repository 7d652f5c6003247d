// SPDX-License-Identifier: Apache-2.0
// The reader is chosen by the name's ending.
#include "ubique/data/music/speaker_file.h"

#include <cmath>
#include <cstring>
#include <span>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/torch/torch_file.h"

namespace ubique::data {
namespace {

std::vector<float> f32_values(DType dtype, std::span<const std::byte> bytes,
                              const std::filesystem::path& path) {
  check(dtype == DType::F32 && !bytes.empty(), ErrorKind::Input,
        "[data.music] {}: the speaker is not stored in f32.", path.string());
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (const auto value : values) {
    check(std::isfinite(value), ErrorKind::Input,
          "[data.music] {}: the speaker has numbers that are not finite.", path.string());
  }
  return values;
}

void check_one(std::size_t count, const std::filesystem::path& path) {
  check(count == 1, ErrorKind::Input,
        "[data.music] {} holds {} tensors, expected one: the speaker's embedding.", path.string(),
        count);
}

}  // namespace

std::vector<float> read_speaker(const std::filesystem::path& path) {
  const auto ending = lowercase(path.extension().string());
  if (ending == ".npy") {
    const auto tensor = io::read_npy(path);
    return f32_values(tensor.dtype, tensor.bytes, path);
  }
  if (ending == ".safetensors") {
    const io::SafetensorsFile file(path);
    check_one(file.tensors().size(), path);
    return f32_values(file.tensors().front().dtype, file.bytes(file.tensors().front()), path);
  }
  const auto file = io::read_torch_file(path);
  check_one(file.tensors.size(), path);
  return f32_values(file.tensors.front().dtype, file.tensors.front().bytes, path);
}

}  // namespace ubique::data
