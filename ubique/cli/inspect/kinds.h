// SPDX-License-Identifier: Apache-2.0
// The table of what `ubique inspect` can show: how each kind is recognized, and the function that
// reads it. A new format is one row and one function.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ubique/cli/inspect/finding.h"

namespace ubique::cli {

struct FileKind {
  std::string_view name;
  bool (*matches)(const Sight&);
  void (*show)(const Sight&, Finding&);
};

/// The first that matches counts.
std::span<const FileKind> file_kinds();

/// Input error that lists the kinds, if none matches.
Finding find_out(const std::filesystem::path& path);

/// The path as a word of a command line, in quotes where a shell needs them.
std::string shell_word(const std::filesystem::path& path);

/// Adds the families that read the path as a model, and what can be done with it.
void add_model_commands(const std::filesystem::path& path, Finding& finding);

// show_models.cpp
void show_safetensors(const Sight& sight, Finding& finding);
void show_torch(const Sight& sight, Finding& finding);
void show_hdf5(const Sight& sight, Finding& finding);
void show_numpy(const Sight& sight, Finding& finding);
void show_onnx(const Sight& sight, Finding& finding);
void show_tf_graph(const Sight& sight, Finding& finding);
void show_tfjs(const Sight& sight, Finding& finding);
bool is_tfjs(const Sight& sight);

// show_code.cpp
void show_code_set(const Sight& sight, Finding& finding);
void show_gguf(const Sight& sight, Finding& finding);

// show_sound.cpp
void show_sound(const Sight& sight, Finding& finding);

// show_runs.cpp
void show_run(const Sight& sight, Finding& finding);
void show_checkpoint(const Sight& sight, Finding& finding);

// show_data.cpp
void show_scan(const Sight& sight, Finding& finding);
void show_picture(const Sight& sight, Finding& finding);
void show_mat(const Sight& sight, Finding& finding);
void show_puzzles(const Sight& sight, Finding& finding);
void show_study(const Sight& sight, Finding& finding);
void show_saliency(const Sight& sight, Finding& finding);
void show_inputs(const Sight& sight, Finding& finding);
bool is_study(const Sight& sight);
bool has_inputs(const Sight& sight);

// show_texts.cpp
void show_tokenizer(const Sight& sight, Finding& finding);
void show_yaml(const Sight& sight, Finding& finding);
void show_json(const Sight& sight, Finding& finding);
bool is_tokenizer(const Sight& sight);

}  // namespace ubique::cli
