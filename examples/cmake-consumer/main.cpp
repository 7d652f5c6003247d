// SPDX-License-Identifier: Apache-2.0
// Uses an installed Ubique from another project: asks what this machine is, writes a tensor file
// and reads it back.
#include <ubique/base/text/text.h>
#include <ubique/device/host.h>
#include <ubique/io/tensors/safetensors_reader.h>
#include <ubique/io/tensors/safetensors_writer.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

int main() {
  const auto& host = ubique::device::host();
  std::printf("%s, %d cores, %s, LibTorch %s\n", host.os_version.c_str(), host.cores,
              ubique::human_bytes(host.memory_total).c_str(),
              ubique::device::torch_version().c_str());

  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const auto path = std::filesystem::temp_directory_path() / "ubique-consumer.safetensors";
  const std::array<ubique::io::TensorData, 1> tensors = {
      {{"weight", ubique::DType::F32, {2, 3}, std::as_bytes(std::span(values))}}};
  ubique::io::write_safetensors(path, tensors, {{"made_by", "cmake-consumer"}});

  const ubique::io::SafetensorsFile file(path);
  const auto* weight = file.find("weight");
  std::array<float, 6> read = {};
  file.read(*weight, std::as_writable_bytes(std::span(read)));
  std::filesystem::remove(path);
  const bool same = std::equal(values.begin(), values.end(), read.begin());
  std::printf("wrote and read a tensor of %zu bytes: %s\n",
              static_cast<std::size_t>(weight->size()), same ? "the same" : "DIFFERENT");
  return same ? 0 : 1;
}
