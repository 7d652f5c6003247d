// SPDX-License-Identifier: Apache-2.0
// Chooses the reader by the first bytes or the extension.
#include "ubique/io/tensor_list.h"

#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/arrays/hdf5.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/graphs/tf_graph.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/torch/torch_file.h"

namespace ubique::io {
namespace {

std::vector<TensorInfo> without_values(std::vector<HostTensor> tensors) {
  std::vector<TensorInfo> infos;
  for (auto& tensor : tensors) {
    infos.push_back({std::move(tensor.name), tensor.dtype, std::move(tensor.shape)});
  }
  return infos;
}

/// Nothing for other formats.
std::optional<std::vector<TensorInfo>> list_known(const std::filesystem::path& path,
                                                  const std::string& start) {
  const auto bytes = std::as_bytes(std::span(start));
  if (start.starts_with("\x89HDF\r\n\x1a\n")) return Hdf5File(path).tensors();
  if (starts_like_safetensors(bytes)) return SafetensorsFile(path).tensors();
  if (path.extension() == ".npz") return without_values(read_npz(path));
  if (looks_like_torch_file(bytes)) return list_torch_file(path);
  const auto no_values = [](const std::string&) { return false; };
  if (path.extension() == ".pb") return without_values(read_tf_graph(path, no_values).constants);
  return std::nullopt;
}

std::string kind_text(const std::string& start) {
  const auto what = looks_like(std::as_bytes(std::span(start)));
  return what.empty() ? "a file of unknown kind" : std::string(what);
}

}  // namespace

std::vector<TensorInfo> list_tensors(const std::filesystem::path& path) {
  const auto start = read_start(path, kTellingBytes);
  auto tensors = list_known(path, start);
  check(tensors.has_value(), ErrorKind::Input,
        "[io.tensor_list] {} is no known tensor file; got {}.", path.string(), kind_text(start));
  return std::move(*tensors);
}

std::string contents_text(const std::filesystem::path& path) {
  constexpr std::size_t kShown = 4;
  if (std::filesystem::is_directory(path)) return "a folder";
  try {
    const auto start = read_start(path, kTellingBytes);
    const auto tensors = list_known(path, start);
    if (!tensors) return kind_text(start);
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(kShown, tensors->size()); ++i) {
      const auto& tensor = (*tensors)[i];
      shown.push_back(fmt::format("{} {}", printable(tensor.name), shape_text(tensor.shape)));
    }
    if (tensors->size() > kShown) shown.emplace_back("...");
    return fmt::format("{} tensor{}{}{}", tensors->size(), tensors->size() == 1 ? "" : "s",
                       shown.empty() ? "" : ": ", join(shown, ", "));
  } catch (const Error& error) {
    return fmt::format("one that cannot be read ({})", error.what());
  }
}

}  // namespace ubique::io
