// SPDX-License-Identifier: Apache-2.0
// Hugging Face folders: config.json, weights in one safetensors file or in shards with an index,
// and the tokenizer's files beside them. Read and written unchanged.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

/// Is it a folder with a config.json that names an architecture? Loads no weights.
bool looks_like_huggingface(const std::filesystem::path& path);

/// The network that config.json of the folder describes; no weights are read.
CodelmConfig read_network_config(const std::filesystem::path& path);

/// Reads the folder, or the folder of a file in it. Weights are f32 in memory, whatever the file
/// has, unless `keep_dtype`. Input error that names the missing shard, tensor, or other shape;
/// tensors of the file that no network needs (attention masks, a stored tied head) are dropped.
std::unique_ptr<CodelmModel> read_huggingface(const std::filesystem::path& path,
                                              bool keep_dtype = false);

/// Writes a folder that transformers opens: config.json, model.safetensors (or shards), and the
/// tokenizer's files (a folder, a file, or empty: none). `dtype` is "", "float32", "bfloat16" or
/// "float16"; empty: as config.json says. Adapters are merged. Parity error, and nothing left
/// behind, if reading it back gives other weights.
void write_huggingface(CodelmModel& model, const std::filesystem::path& folder,
                       const std::string& dtype, const std::filesystem::path& tokenizer);

/// Copies tokenizer.json and what belongs to it, as far as they exist, to a folder; `from` is a
/// folder or a tokenizer file of any name. Nothing if `from` is empty.
void copy_tokenizer_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace ubique::codelm
