// SPDX-License-Identifier: Apache-2.0
// The music models' entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/models/acestep/commands/commands.h"
#include "ubique/models/acestep/files/formats.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/net/needs.h"
#include "ubique/models/acestep/train/codec_model.h"
#include "ubique/models/acestep/train/codec_task.h"
#include "ubique/models/acestep/train/original_keys.h"
#include "ubique/models/acestep/train/part_format.h"
#include "ubique/models/acestep/train/task.h"

namespace ubique::acestep {
namespace {

class AcestepFamily final : public engine::Family {
 public:
  std::string name() const override { return "acestep"; }
  std::string summary() const override {
    return "makes music from tags and lyrics, repaints and edits it, learns styles";
  }
  std::vector<engine::Command> commands() const override { return acestep_commands(); }
  engine::TrainCommand train_command() const override {
    auto examples = acestep_train_examples();
    for (auto& example : codec_train_examples()) examples.push_back(std::move(example));
    return {.options = engine::all_options({acestep_train_options(), codec_train_options()}),
            .examples = std::move(examples),
            .adopt = adopt_original_keys};
  }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<AcestepModel>(std::make_shared<Dit>(read_networks(config).transformer));
  }
  plan::Needs needs(const Config& config) const override { return read_song_needs(config); }
  std::unique_ptr<engine::Model> build(const Json& config,
                                       const engine::NamedTensors& weights) const override {
    if (is_codec_config(config)) return build_codec(config, weights);
    return build_model(config, weights);
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    const auto part = read_part(request.config);
    if (part != Part::Transformer) return make_codec_task(request, part);
    return make_acestep_task(request);
  }
  bool recognizes(const std::filesystem::path& path) const override {
    return looks_like_model_folder(path);
  }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    return read_transformer(path);
  }
  std::vector<engine::Format> formats() const override {
    auto formats = acestep_formats();
    formats.push_back(part_format());
    return formats;
  }
};

}  // namespace
}  // namespace ubique::acestep

namespace ubique::models {

void register_acestep() { engine::register_family(std::make_unique<acestep::AcestepFamily>()); }

}  // namespace ubique::models
