// SPDX-License-Identifier: Apache-2.0
// TRM's entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/files/weights.h"
#include "ubique/models/trm/train/task.h"

namespace ubique::trm {
namespace {

class TrmFamily final : public engine::Family {
 public:
  std::string name() const override { return "trm"; }
  std::string summary() const override {
    return "trains tiny recursive models and solves puzzles with them: sudoku, mazes, ARC, chat";
  }
  std::vector<engine::Command> commands() const override {
    auto commands = data_commands();
    commands.push_back(data_chat_command());
    commands.push_back(run_command());
    commands.push_back(evaluate_command());
    commands.push_back(demo_command());
    return commands;
  }
  std::vector<engine::Option> train_options() const override { return trm_train_options(); }
  std::vector<std::pair<std::string, std::string>> train_examples() const override {
    return {{"ubique train trm -d data/sudoku -o runs/sudoku arch.mlp_t=true epochs=50000 "
             "weight_decay=1 puzzle_emb_lr=1e-4 puzzle_emb_weight_decay=1",
             "the original's recipe for sudoku"},
            {"ubique train trm -d data/sudoku4 -o runs/small arch.mlp_t=true arch.hidden_size=128 "
             "arch.num_heads=4 global_batch_size=64 epochs=200",
             "a small network"}};
  }
  engine::Recipe default_recipe() const override { return original_recipe(); }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<TrmModel>(read_arch(config.section("arch"), {}));
  }
  std::unique_ptr<engine::Model> build(const Json& config) const override {
    return std::make_unique<TrmModel>(trm::from_json(config, "the checkpoint"));
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    return make_task(request);
  }
  bool recognizes(const std::filesystem::path& path) const override { return looks_like_trm(path); }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    return load_any(path);
  }
  std::vector<std::string> formats() const override { return {"checkpoint", "safetensors", "pt"}; }
  std::string format_of(const std::filesystem::path& path) const override {
    const auto ending = path.extension().string();
    if (ending == ".safetensors") return "safetensors";
    const bool original = path.filename().string().starts_with("step_");
    return ending == ".pt" || ending == ".pth" || original ? "pt" : "";
  }
  std::vector<engine::Option> format_options() const override {
    return {{"--name-prefix", "name_prefix", "TEXT",
             "put before every name: _orig_mod. for a compiled model of the original's"}};
  }
  void export_model(engine::Model& model, const std::string& format,
                    const std::filesystem::path& path, const Config& config) const override {
    export_checked(dynamic_cast<TrmModel&>(model), format, path,
                   config.get<std::string>("name_prefix", ""));
  }
};

}  // namespace
}  // namespace ubique::trm

namespace ubique::models {

void register_trm() { engine::register_family(std::make_unique<trm::TrmFamily>()); }

}  // namespace ubique::models
