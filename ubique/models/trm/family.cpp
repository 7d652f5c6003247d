// SPDX-License-Identifier: Apache-2.0
// TRM's entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/engine/checkpoint/state_dict.h"

#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/files/weights.h"
#include "ubique/models/trm/train/task.h"

namespace ubique::trm {
namespace {

engine::Format weights_format(const std::string& name, std::vector<std::string> extensions) {
  return {.name = name,
          .extensions = std::move(extensions),
          .options = {{"--name-prefix", "name_prefix", "TEXT",
                       "put before every name: _orig_mod. for a compiled model of the original's"}},
          .write = [name](engine::Model& model, const std::filesystem::path& path,
                          const Config& config) {
            export_checked(dynamic_cast<TrmModel&>(model), name, path,
                           config.get<std::string>("name_prefix", ""));
          }};
}

class TrmFamily final : public engine::Family {
 public:
  std::string name() const override { return "trm"; }
  std::string summary() const override {
    return "trains tiny recursive models and solves puzzles with them: sudoku, mazes, ARC, chat";
  }
  std::vector<engine::Command> commands() const override {
    auto commands = data_commands();
    commands.push_back(run_command());
    commands.push_back(evaluate_command());
    commands.push_back(demo_command());
    return commands;
  }
  engine::TrainCommand train_command() const override {
    return {
        .options = trm_train_options(),
        .examples = {
            {"ubique train trm -d data/sudoku -o runs/sudoku arch.mlp_t=true epochs=50000 "
             "weight_decay=1 puzzle_emb_lr=1e-4 puzzle_emb_weight_decay=1",
             "the original's recipe for sudoku"},
            {"ubique train trm -d data/sudoku4 -o runs/small arch.mlp_t=true arch.hidden_size=128 "
             "arch.num_heads=4 global_batch_size=64 epochs=200",
             "a small network"},
            {"ubique train trm --config-name cfg_chat -d chat -o runs/chat",
             "a network that talks, by the settings of configs/trm/chat.yaml"}}};
  }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<TrmModel>(read_arch(config.section("arch"), {}));
  }
  std::unique_ptr<engine::Model> build(const Json& config,
                                       const engine::NamedTensors& weights) const override {
    const auto settings = trm::from_json(config, "the checkpoint");
    engine::check_stored_size(stored_count(settings), weights, "the checkpoint");
    return std::make_unique<TrmModel>(settings);
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    return make_task(request);
  }
  bool recognizes(const std::filesystem::path& path) const override { return looks_like_trm(path); }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    return load_any(path);
  }
  std::vector<engine::Format> formats() const override {
    auto torch = weights_format("pt", {".pt", ".pth"});
    torch.name_prefixes = {"step_"};  // the original's names have no extension
    return {weights_format("checkpoint", {}), weights_format("safetensors", {".safetensors"}),
            std::move(torch)};
  }
};

}  // namespace
}  // namespace ubique::trm

namespace ubique::models {

void register_trm() { engine::register_family(std::make_unique<trm::TrmFamily>()); }

}  // namespace ubique::models
