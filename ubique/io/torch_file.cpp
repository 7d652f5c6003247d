// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/torch_file.h"

#include <algorithm>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/io/byte_order.h"
#include "ubique/io/magic.h"
#include "ubique/io/printable.h"
#include "ubique/io/torch_file_names.h"
#include "ubique/io/torch_file_tree.h"
#include "ubique/io/zip_format.h"

namespace ubique::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kPickleName = "data.pkl";
// A pickle of the number 0x1950a86a20f9469cfc6c, by which torch knows its files of before 1.6.
constexpr std::string_view kLegacyMagic =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
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
  check(!text_view(file).starts_with(kLegacyMagic), ErrorKind::Input,
        "[io.torch_file] {} was saved in PyTorch's legacy form (before 1.6); expected a zip. {}",
        name, kResave);
  check(!is_tar(file), ErrorKind::Input,
        "[io.torch_file] {} is a tar archive, as the first versions of PyTorch wrote; expected a "
        "zip. {}",
        name, kResave);
  const auto known = looks_like(file);
  check(text_view(file).starts_with("PK"), ErrorKind::Input,
        "[io.torch_file] {} is not a PyTorch checkpoint; {} Expected a zip as torch.save writes "
        "it.",
        name,
        known.empty() ? std::string("got other bytes at its start.")
                      : fmt::format("this looks like {}.", known));
}

/// The one folder of the archive, with its slash: the one that holds data.pkl.
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

}  // namespace

const HostTensor* TorchFile::find(std::string_view name) const {
  return find_tensor(tensors, name);
}

bool looks_like_torch_file(std::span<const std::byte> start) {
  if (text_view(start).starts_with(kLegacyMagic)) return true;
  if (start.size() < zip::kLocalBytes || load_little(start.first(4)) != zip::kLocalSignature) {
    return false;
  }
  // torch puts all entries into one folder, its pickle first; archives packed again may differ.
  const auto length = load_little(start.subspan(26, 2));
  const auto name = text_view(start.subspan(zip::kLocalBytes)).substr(0, length);
  return name.find('/') != std::string_view::npos && !name.ends_with(".npy");
}

TorchFile parse_torch_file(std::span<const std::byte> file, const std::string& name) {
  refuse_other_formats(file, name);
  const ZipReader zip(file, name);
  const auto folder = archive_folder(zip);
  refuse_torchscript(zip, folder);
  std::vector<std::byte> room;
  const auto* entry = zip.find(folder + std::string(kPickleName));
  const auto pickle = parse_pickle(zip.read(*entry, room), name, torch_globals());
  TorchTensors tensors(zip, folder);
  return torch_tree(pickle, tensors, name);
}

TorchFile read_torch_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_torch_file(file.bytes(), path.string());
}

}  // namespace ubique::io
