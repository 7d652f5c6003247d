// SPDX-License-Identifier: Apache-2.0
// Formats over the writers.
#include "ubique/models/acestep/files/formats.h"

#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/models/acestep/files/adapter_writer.h"
#include "ubique/models/acestep/files/folder_writer.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

AcestepModel& acestep_of(engine::Model& model) { return dynamic_cast<AcestepModel&>(model); }

void write_plain_checkpoint(engine::Model& model, const fs::path& path, const Config& /*config*/) {
  engine::Checkpoint checkpoint;
  checkpoint.family = model.family();
  checkpoint.config = model.config();
  checkpoint.provenance = Json::object();
  checkpoint.model = engine::state_dict(model.network());
  engine::write_checked(path, "acestep.export", [&] {
    engine::save_checkpoint(path, checkpoint);
    engine::check_same_tensors(checkpoint.model, engine::load_checkpoint(path, false).model,
                               "acestep.export");
  });
}

engine::Format original_format() {
  return {.name = "upstream",
          .extensions = {".safetensors"},
          .options = {{"--raw", "raw", "",
                       "numbers as trained; their scale is then only in our metadata, which other "
                       "programs do not read"}},
          .write =
              [](engine::Model& model, const fs::path& path, const Config& config) {
                write_original_adapter(acestep_of(model), path, config.get("raw", false));
              },
          .aliases = {"original"}};
}

engine::Format merged_format() {
  return {.name = "merged",
          .extensions = {},
          .options = {{"--weights-dtype", "weights_dtype", "NAME",
                       "float32, bfloat16 or float16 (as the base's own file)"}},
          .write =
              [](engine::Model& model, const fs::path& path, const Config& config) {
                write_model_folder(acestep_of(model), path,
                                   config.get("weights_dtype", std::string()));
              },
          .aliases = {"folder"}};
}

}  // namespace

std::vector<engine::Format> acestep_formats() {
  return {{.name = "checkpoint", .extensions = {}, .write = write_plain_checkpoint},
          original_format(),
          {.name = "peft",
           .extensions = {},
           .write = [](engine::Model& model, const fs::path& path,
                       const Config& /*config*/) { write_peft_adapter(acestep_of(model), path); }},
          merged_format()};
}

}  // namespace ubique::acestep
