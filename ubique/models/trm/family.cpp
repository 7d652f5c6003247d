// SPDX-License-Identifier: Apache-2.0
// TRM's entry in the registry.
#include "ubique/engine/family.h"

#include "ubique/models/trm/commands_chat.h"
#include "ubique/models/trm/model.h"

namespace ubique::trm {
namespace {

class TrmFamily final : public engine::Family {
 public:
  std::string name() const override { return "trm"; }
  std::string summary() const override {
    return "trains tiny recursive models and solves puzzles with them: sudoku, mazes, ARC, chat";
  }
  std::vector<engine::Command> commands() const override {
    engine::Command run{.verb = "run", .summary = "talk with a chat model", .needs_model = true};
    run.options = chat_options();
    run.examples = chat_examples();
    run.run = run_chat;
    return {data_chat_command(), run};
  }
  std::vector<engine::Option> train_options() const override { return {}; }
  engine::Recipe default_recipe() const override { return {}; }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<TrmModel>(read_arch(config.section("arch"), {}));
  }
  std::unique_ptr<engine::Model> build(const Json& config) const override {
    return std::make_unique<TrmModel>(trm::from_json(config, "the checkpoint"));
  }
  std::unique_ptr<engine::Task> task(const engine::Request& /*request*/) const override {
    return nullptr;
  }
  bool recognizes(const std::filesystem::path& /*path*/) const override { return false; }
  std::unique_ptr<engine::Model> import_model(
      const std::filesystem::path& /*path*/) const override {
    return nullptr;
  }
  std::vector<std::string> formats() const override { return {"checkpoint"}; }
  void export_model(engine::Model& /*model*/, const std::string& /*format*/,
                    const std::filesystem::path& /*path*/,
                    const Config& /*config*/) const override {}
};

}  // namespace
}  // namespace ubique::trm

namespace ubique::models {

void register_trm() { engine::register_family(std::make_unique<trm::TrmFamily>()); }

}  // namespace ubique::models
