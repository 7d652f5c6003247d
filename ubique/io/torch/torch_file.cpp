// SPDX-License-Identifier: Apache-2.0
// The zip format: finds the pickle and the storages, and refuses other files.
#include "ubique/io/torch/torch_file.h"

#include <algorithm>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/archive/zip_format.h"
#include "ubique/io/archive/zip_reader.h"
#include "ubique/io/torch/torch_file_legacy.h"
#include "ubique/io/torch/torch_file_names.h"
#include "ubique/io/torch/torch_file_tree.h"

namespace ubique::io {
namespace {

constexpr std::string_view kPickleName = "data.pkl";
constexpr std::string_view kResave =
    "Re-save it with torch.save in PyTorch 1.6 or newer: "
    "torch.save(torch.load(path, weights_only=True), path).";

std::string_view text_view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_tar(std::span<const std::byte> file) {
  constexpr std::size_t kTarMagic = 257;
  return file.size() > kTarMagic && text_view(file.subspan(kTarMagic)).starts_with("ustar");
}

void refuse_other_formats(std::span<const std::byte> file, const std::string& name) {
  check(!starts_like_safetensors(file), ErrorKind::Input,
        "[io.torch_file] {} is a safetensors file, whatever its name says; expected a zip as "
        "torch.save writes it. Give it the ending .safetensors.",
        name);
  check(!is_tar(file), ErrorKind::Input,
        "[io.torch_file] {} is a tar archive, as the first versions of PyTorch wrote; expected a "
        "zip. {}",
        name, kResave);
  check(text_view(file).starts_with("PK"), ErrorKind::Input,
        "[io.torch_file] {} is not a PyTorch checkpoint; {} Expected a zip as torch.save writes "
        "it.",
        name, looks_like_clause(file));
}

/// The folder in the archive that holds data.pkl, with its slash.
std::string archive_folder(const ZipReader& zip) {
  std::optional<std::string> folder;
  for (const auto& entry : zip.entries()) {
    const auto slash = entry.name.find('/');
    if (slash == std::string::npos || entry.name.substr(slash + 1) != kPickleName) continue;
    check(!folder, ErrorKind::Input,
          "[io.torch_file] {} holds more than one checkpoint; got '{}' and '{}'.", zip.name(),
          printable(folder.value_or("")), printable(entry.name));
    folder = entry.name.substr(0, slash + 1);
  }
  const auto& entries = zip.entries();
  const bool arrays = std::any_of(entries.begin(), entries.end(),
                                  [](const auto& e) { return e.name.ends_with(".npy"); });
  check(folder.has_value(), ErrorKind::Input,
        "[io.torch_file] {} is a zip archive, but not a PyTorch checkpoint; got {}, expected a "
        "data.pkl in a folder.",
        zip.name(),
        arrays            ? std::string("NumPy arrays, as .npz files hold")
        : entries.empty() ? std::string("no entries")
                          : fmt::format("'{}'", printable(entries.front().name)));
  return *folder;
}

void refuse_torchscript(const ZipReader& zip, const std::string& folder) {
  const auto& entries = zip.entries();
  const bool script = std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.name == folder + "constants.pkl" || entry.name.starts_with(folder + "code/");
  });
  check(!script, ErrorKind::Input,
        "[io.torch_file] {} is a TorchScript archive (torch.jit.save), a program; expected a "
        "checkpoint of tensors. In Python: torch.save(torch.jit.load(path).state_dict(), path).",
        zip.name());
}

TorchStorages zip_storages(const ZipReader& zip, const std::string& folder) {
  TorchStorages storages;
  storages.file = zip.name();
  for (const auto& entry : zip.entries()) {
    if (entry.name.starts_with(folder + "data/")) storages.bytes += entry.size;
  }
  const auto* order = zip.find(folder + "byteorder");
  const auto text = order == nullptr ? std::string("little") : zip.read_text(*order);
  check(text == "little" || text == "big", ErrorKind::Input,
        "[io.torch_file] {} has an unknown byte order; got '{}', expected little or big.",
        zip.name(), printable(text, 40));
  storages.swapped = (text == "little") != kLittleMachine;
  storages.read = [&zip, folder](const std::string& key, std::vector<std::byte>& buffer) {
    const auto* entry = zip.find(folder + "data/" + key);
    check(entry != nullptr, ErrorKind::Input,
          "[io.torch_file] {} has no storage '{}'; the archive is incomplete.", zip.name(),
          printable(key, 40));
    return zip.read(*entry, buffer);
  };
  return storages;
}

}  // namespace

const HostTensor* TorchFile::find(std::string_view name) const {
  return find_tensor(tensors, name);
}

bool looks_like_torch_file(std::span<const std::byte> start) {
  if (starts_like_legacy_torch(start)) return true;
  if (start.size() < zip::kLocalBytes || load_little(start.first(4)) != zip::kLocalSignature) {
    return false;
  }
  // torch puts all entries into one folder, the pickle first; repacked archives may differ.
  const auto length = load_little(start.subspan(26, 2));
  const auto name = text_view(start.subspan(zip::kLocalBytes)).substr(0, length);
  return name.find('/') != std::string_view::npos && !name.ends_with(".npy");
}

TorchFile parse_torch_file(std::span<const std::byte> file, const std::string& name,
                           const TensorFilter& wanted) {
  if (starts_like_legacy_torch(file)) return parse_legacy_torch_file(file, name, wanted);
  refuse_other_formats(file, name);
  const ZipReader zip(file, name);
  const auto folder = archive_folder(zip);
  refuse_torchscript(zip, folder);
  std::vector<std::byte> buffer;
  const auto* entry = zip.find(folder + std::string(kPickleName));
  const auto pickle = parse_pickle(zip.read(*entry, buffer), name, torch_globals());
  TorchTensors tensors(zip_storages(zip, folder), wanted);
  return torch_tree(pickle, tensors, name);
}

TorchFile read_torch_file(const std::filesystem::path& path, const TensorFilter& wanted) {
  const MappedFile file(path);
  return parse_torch_file(file.bytes(), path.string(), wanted);
}

std::vector<TensorInfo> list_torch_file(const std::filesystem::path& path) {
  std::vector<TensorInfo> infos;
  for (auto& tensor : read_torch_file(path, [](const std::string&) { return false; }).tensors) {
    infos.push_back({std::move(tensor.name), tensor.dtype, std::move(tensor.shape)});
  }
  return infos;
}

}  // namespace ubique::io
