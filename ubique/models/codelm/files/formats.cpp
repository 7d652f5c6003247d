// SPDX-License-Identifier: Apache-2.0
// Checkpoints, Hugging Face folders, GGUF and ONNX files, and adapters of PEFT and mlx-lm.
#include "ubique/models/codelm/files/formats.h"

#include "ubique/base/terminal/log.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/models/codelm/files/adapter_files.h"
#include "ubique/models/codelm/files/decoder_graph.h"
#include "ubique/models/codelm/files/gguf_file.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/files/open.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

CodelmModel& codelm_of(engine::Model& model) { return dynamic_cast<CodelmModel&>(model); }

void write_codelm_checkpoint(engine::Model& model, const fs::path& path, const Config& /*config*/) {
  engine::Checkpoint checkpoint;
  checkpoint.family = model.family();
  checkpoint.config = model.config();
  checkpoint.provenance = Json::object();
  checkpoint.model = engine::state_dict(model.network());
  engine::write_checked(path, "codelm.export", [&] {
    engine::save_checkpoint(path, checkpoint);
    engine::check_same_tensors(checkpoint.model, engine::load_checkpoint(path, false).model,
                               "codelm.export");
  });
}

/// Weights without a tokenizer are worth writing too.
fs::path tokenizer_if_any(const CodelmModel& model, const std::string& given) {
  try {
    return tokenizer_of(model, given);
  } catch (const Error& error) {
    if (!given.empty()) throw;
    log::warn(
        "[codelm.export] the folder is written without a tokenizer: none lies beside {}. "
        "--tokenizer names it.",
        model.origin().string());
    return {};
  }
}

engine::Format adapter_format(const std::string& name, AdapterForm form) {
  return {.name = name,
          .extensions = {},
          .write = [form](engine::Model& model, const fs::path& path, const Config& /*config*/) {
            write_adapter(codelm_of(model), path, form);
          }};
}

engine::Format gguf_format() {
  return {.name = "gguf",
          .extensions = {".gguf"},
          .options = {{"--type", "gguf_type", "NAME", "f32, f16, bf16, q8_0 or q4_0 (f16)"},
                      {"--tokenizer", "tokenizer", "PATH",
                       "the tokenizer's folder, if it lies elsewhere"}},
          .write = [](engine::Model& model, const fs::path& path, const Config& config) {
            const auto given = config.get<std::string>("tokenizer", "");
            const auto type = config.get<std::string>("gguf_type", "f16");
            write_gguf_file(codelm_of(model), path, type,
                            io::read_tokenizer(tokenizer_of(codelm_of(model), given)));
          }};
}

engine::Format onnx_format() {
  return {.name = "onnx",
          .extensions = {".onnx"},
          .graph = [](engine::Model& model, const Config& /*config*/) {
            return decoder_graph_export(codelm_of(model));
          }};
}

}  // namespace

std::vector<engine::Format> codelm_formats() {
  engine::Format huggingface{
      .name = "huggingface",
      .extensions = {},
      .options = {{"--weights-dtype", "weights_dtype", "NAME",
                   "float32, bfloat16 or float16 (as the model's own files)"},
                  {"--tokenizer", "tokenizer", "PATH",
                   "the tokenizer's folder, if it lies elsewhere"}},
      .write =
          [](engine::Model& model, const fs::path& path, const Config& config) {
            const auto given = config.get<std::string>("tokenizer", "");
            write_huggingface(codelm_of(model), path, config.get<std::string>("weights_dtype", ""),
                              tokenizer_if_any(codelm_of(model), given));
          },
      .aliases = {"hf", "transformers"}};
  return {{.name = "checkpoint", .extensions = {}, .write = write_codelm_checkpoint},
          std::move(huggingface),
          gguf_format(),
          onnx_format(),
          adapter_format("peft", AdapterForm::Peft),
          adapter_format("mlx", AdapterForm::Mlx)};
}

}  // namespace ubique::codelm
