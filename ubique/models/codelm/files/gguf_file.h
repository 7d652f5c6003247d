// SPDX-License-Identifier: Apache-2.0
// Models as GGUF files, which llama.cpp and the programs built on it load.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/io/text/tokenizer.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

/// Writes weights and tokenizer; adapters are merged. `type` is "f32", "f16", "bf16", "q8_0" or
/// "q4_0" (Usage error for others). The file is read back and its tensors compared: Parity error,
/// and nothing left behind, if a number differs from what was to be written. Input error for a
/// tokenizer that is no byte-level BPE.
void write_gguf_file(CodelmModel& model, const std::filesystem::path& path, const std::string& type,
                     const io::Tokenizer& tokenizer);

}  // namespace ubique::codelm
