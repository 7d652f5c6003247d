// SPDX-License-Identifier: Apache-2.0
// The code language models' entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/files/formats.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/train/original_keys.h"
#include "ubique/models/codelm/train/task.h"

namespace ubique::codelm {
namespace {

class CodelmFamily final : public engine::Family {
 public:
  std::string name() const override { return "codelm"; }
  std::string summary() const override {
    return "trains code language models on repositories (whole or LoRA) and completes with them";
  }
  std::vector<engine::Command> commands() const override { return codelm_commands(); }
  engine::TrainCommand train_command() const override {
    return {.options = codelm_train_options(),
            .examples = codelm_train_examples(),
            .adopt = adopt_original_keys};
  }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<CodelmModel>(std::make_shared<Codelm>(read_new_network(config)));
  }
  plan::Needs needs(const Config& config) const override { return read_codelm_needs(config); }
  std::unique_ptr<engine::Model> build(const Json& config,
                                       const engine::NamedTensors& weights) const override {
    return build_model(config, weights);
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    return make_codelm_task(request);
  }
  bool recognizes(const std::filesystem::path& path) const override {
    return looks_like_huggingface(path);
  }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    return read_huggingface(path);
  }
  std::vector<engine::Format> formats() const override { return codelm_formats(); }
};

}  // namespace
}  // namespace ubique::codelm

namespace ubique::models {

void register_codelm() { engine::register_family(std::make_unique<codelm::CodelmFamily>()); }

}  // namespace ubique::models
