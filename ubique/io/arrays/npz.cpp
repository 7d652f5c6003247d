// SPDX-License-Identifier: Apache-2.0
// Archives of .npy arrays.
#include "ubique/io/arrays/npz.h"

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/zip_reader.h"
#include "ubique/io/archive/zip_writer.h"

namespace ubique::io {
namespace {

constexpr std::string_view kNpyEnding = ".npy";

}  // namespace

std::vector<HostTensor> parse_npz(std::span<const std::byte> file, const std::string& name) {
  const ZipReader zip(file, name);
  std::vector<HostTensor> tensors;
  for (const auto& entry : zip.entries()) {
    check(entry.name.ends_with(kNpyEnding), ErrorKind::Input,
          "[io.npz] {} is not an archive of NumPy arrays alone; got '{}', expected entries that "
          "end in .npy.",
          name, printable(entry.name));
    std::vector<std::byte> buffer;
    const auto bytes = zip.read(entry, buffer);
    auto tensor = parse_npy(bytes, fmt::format("{}: array '{}'", name, printable(entry.name)));
    tensor.name = entry.name.substr(0, entry.name.size() - kNpyEnding.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<HostTensor> read_npz(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_npz(file.bytes(), path.string());
}

void write_npz(const std::filesystem::path& path, std::span<const HostTensor> tensors,
               bool compress) {
  check_tensors(tensors, "io.npz");
  ZipWriter zip(path);
  for (const auto& tensor : tensors) {
    const auto entry = tensor.name + std::string(kNpyEnding);
    const auto bytes = npy_bytes(tensor);
    if (compress) {
      zip.deflate(entry, std::as_bytes(std::span(bytes)));
    } else {
      zip.store(entry, bytes);
    }
  }
  zip.commit();
}

}  // namespace ubique::io
