// SPDX-License-Identifier: Apache-2.0
// Opening code language models: from a checkpoint's header, and with adapters on top.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

/// The model that a checkpoint's header describes, not yet with its weights; an adapter's base is
/// read from where the header says. Input error if the header contradicts the weights.
std::unique_ptr<CodelmModel> build_model(const Json& config, const engine::NamedTensors& weights);

/// A Hugging Face folder, a checkpoint or run of ours, or an adapter folder, whose adapter_config
/// names the base. With its weights, on the CPU.
std::unique_ptr<CodelmModel> open_codelm(const std::filesystem::path& path);

/// The folder or file of the model's tokenizer: `given` unless that is empty, else where the model
/// was opened from, or beside that. Input error that says where it was looked for.
std::filesystem::path tokenizer_of(const CodelmModel& model, const std::string& given);

}  // namespace ubique::codelm
