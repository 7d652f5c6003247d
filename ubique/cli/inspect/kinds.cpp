// SPDX-License-Identifier: Apache-2.0
// Recognizes kinds by the first bytes, by what is in a folder, and last by the name's ending.
#include "ubique/cli/inspect/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/code_set.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/family.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/io/images/image.h"
#include "ubique/io/torch/torch_file.h"

namespace ubique::cli {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> start_of(const Sight& sight) {
  return std::as_bytes(std::span(sight.start));
}

bool begins(const Sight& sight, std::string_view signature) {
  return !sight.is_folder && sight.start.starts_with(signature);
}

bool ends(const Sight& sight, std::initializer_list<std::string_view> extensions) {
  return !sight.is_folder && std::ranges::find(extensions, sight.extension) != extensions.end();
}

bool is_safetensors(const Sight& sight) {
  if (!sight.is_folder) {
    return ends(sight, {".safetensors"}) || io::starts_like_safetensors(start_of(sight)) ||
           sight.path.filename().string().ends_with(".safetensors.index.json");
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(sight.path, ignored)) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json")) return true;
  }
  return false;
}

bool is_puzzle_set(const Sight& sight) {
  if (!sight.is_folder) return sight.path.filename() == "dataset.json";
  return sight.has("dataset.json") || sight.has("train/dataset.json") ||
         sight.has("test/dataset.json");
}

constexpr FileKind kKinds[] = {
    {"run folder of ubique train",
     [](const Sight& sight) { return sight.has("run.yaml") && sight.has("checkpoints"); },
     show_run},
    {"checkpoint of ubique", [](const Sight& sight) { return engine::is_checkpoint(sight.path); },
     show_checkpoint},
    {"safetensors file, index or folder", is_safetensors, show_safetensors},
    {"TensorFlow.js model (model.json and its folder)", is_tfjs, show_tfjs},
    {"TensorFlow graph (.pb) or SavedModel folder",
     [](const Sight& sight) { return ends(sight, {".pb"}) || sight.has("saved_model.pb"); },
     show_tf_graph},
    {"ONNX model (.onnx)", [](const Sight& sight) { return ends(sight, {".onnx"}); }, show_onnx},
    {"GGUF model (.gguf)", [](const Sight& sight) { return begins(sight, "GGUF"); }, show_gguf},
    {"HDF5 weights of Keras (.h5)",
     [](const Sight& sight) { return begins(sight, "\x89HDF\r\n\x1a\n"); }, show_hdf5},
    {"NumPy array or archive (.npy, .npz)",
     [](const Sight& sight) {
       return begins(sight, "\x93NUMPY") || ends(sight, {".npy", ".npz"});
     },
     show_numpy},
    {"PNG or JPEG picture",
     [](const Sight& sight) {
       return begins(sight, "\x89PNG") || begins(sight, "\xff\xd8\xff") ||
              (!sight.is_folder && io::is_image_name(sight.path));
     },
     show_picture},
    {"NIfTI scan (.nii, .nii.gz, .hdr with .img)",
     [](const Sight& sight) {
       return ends(sight, {".hdr", ".img"}) || (!sight.is_folder && data::is_scan_name(sight.path));
     },
     show_scan},
    {"MATLAB file (.mat)",
     [](const Sight& sight) { return begins(sight, "MATLAB 5.0") || ends(sight, {".mat"}); },
     show_mat},
    {"PyTorch file (.pt, .pth, .bin, step_N)",
     [](const Sight& sight) {
       return ends(sight, {".pt", ".pth"}) ||
              (!sight.is_folder && io::looks_like_torch_file(start_of(sight)));
     },
     show_torch},
    {"sound (WAV, FLAC, OGG, MP3)",
     [](const Sight& sight) { return !sight.is_folder && io::is_audio_name(sight.path); },
     show_sound},
    {"token sequences of ubique data codelm",
     [](const Sight& sight) { return sight.is_folder && data::is_code_set(sight.path); },
     show_code_set},
    {"set of puzzles or conversations (dataset.json)", is_puzzle_set, show_puzzles},
    {"study of scans (dataset_info.json, BIDS, images/ and masks/)", is_study, show_study},
    {"pictures with saliency maps or fixations (stimuli/)",
     [](const Sight& sight) { return sight.has("stimuli"); }, show_saliency},
    {"tokenizer (tokenizer.json, or vocab.json with merges.txt)", is_tokenizer, show_tokenizer},
    {"configuration, needs or profile (.yaml)",
     [](const Sight& sight) {
       return ends(sight, {".yaml", ".yml"});
     },
     show_yaml},
    {"JSON text", [](const Sight& sight) { return begins(sight, "{") || begins(sight, "["); },
     show_json},
    {"folder of scans or pictures", has_inputs, show_inputs},
};

[[noreturn]] void fail_unknown(const Sight& sight) {
  std::vector<std::string> known;
  for (const auto& kind : kKinds) known.emplace_back(kind.name);
  fail(ErrorKind::Input,
       "[cli.inspect] {} is of no kind that is read here; got {}, expected one of: {}.",
       sight.path.string(),
       sight.is_folder ? "a folder" : io::looks_like_or_unknown(start_of(sight)),
       join(known, "; "));
}

/// What stands for the input in an example: "SCAN" of "SCAN...", "PUZZLES" of "[PUZZLES|FOLDER]".
std::string example_input(const std::string& inputs) {
  const auto from = inputs.find_first_not_of('[');
  return from == std::string::npos ? "" : inputs.substr(from, inputs.find_first_of("|.]") - from);
}

}  // namespace

bool Sight::has(const char* name) const {
  std::error_code ignored;
  return is_folder && fs::exists(path / name, ignored);
}

Sight look_at(const fs::path& path) {
  std::error_code ignored;
  Sight sight;
  sight.path = path;
  sight.is_folder = fs::is_directory(path, ignored);
  if (!sight.is_folder) sight.start = read_start(path, io::kTellingBytes);
  sight.extension = lowercase(path.extension().string());
  return sight;
}

std::span<const FileKind> file_kinds() { return kKinds; }

Finding find_out(const fs::path& path) {
  check_readable(path);
  const auto sight = look_at(path);
  for (const auto& kind : kKinds) {
    if (!kind.matches(sight)) continue;
    Finding finding;
    finding.kind = kind.name;
    kind.show(sight, finding);
    return finding;
  }
  fail_unknown(sight);
}

std::string shell_word(const fs::path& path) {
  const auto text = path.string();
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._-+/=@:,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void add_model_commands(const fs::path& path, Finding& finding) {
  const auto word = shell_word(path);
  std::vector<std::string> names;
  for (const auto* family : engine::families()) {
    const bool is_ours = engine::is_checkpoint(path) && engine::family_of(path) == family->name();
    if (!is_ours && !family->recognizes(path)) continue;
    names.push_back(family->name());
    for (const auto& command : family->commands()) {
      if (command.verb != "run") continue;
      finding.next.push_back(fmt::format("ubique run {} {} --model {} -o OUTPUT", family->name(),
                                         example_input(command.inputs), word));
    }
    finding.next.push_back(fmt::format("ubique convert {} {} -o OUTPUT   ({})", family->name(),
                                       word, engine::format_names(family->formats())));
  }
  finding.facts.emplace_back("family",
                             names.empty() ? "none that is known here" : join(names, ", "));
}

}  // namespace ubique::cli
