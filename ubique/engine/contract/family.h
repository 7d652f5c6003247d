// SPDX-License-Identifier: Apache-2.0
// The contract of a family and the registry through which everyone reaches it. A family is one
// folder under models/; CMake finds it, nothing else is edited.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/terminal/progress.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/graph.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/contract/task.h"
#include "ubique/engine/loop/trainer.h"

namespace ubique::engine {

/// A flag of a command, which is a configuration key (YAML, UBIQUE_*) as well.
struct Option {
  std::string flag;  ///< "--channels", "-c,--channels"
  std::string key;   ///< "channels"
  std::string type;  ///< "N", "PATH"; empty: a switch, "--x" or "--x,!--no-x"
  std::string help;
};

/// What a person asked of a command.
struct Request {
  Config config;                    ///< flags > environment > YAML > defaults
  std::vector<std::string> inputs;  ///< positional arguments
  std::filesystem::path output;     ///< -o; empty = the command's default
  std::string model;                ///< --model
  std::string device;               ///< of `train`: the backend's name ("cuda"), already selected
  bool fallback = false;            ///< --fallback
  ProgressStyle progress = ProgressStyle::Lines;
  std::function<bool()> stop_requested;  ///< Ctrl-C or SIGTERM came
};

/// What it came to: the text for people and the same for programs.
struct Outcome {
  std::string text;
  Json json;
  ExitCode code = ExitCode::Ok;  ///< Input: some inputs failed, the rest is written
};

/// One row of `ubique VERB FAMILY`.
struct Command {
  std::string verb = {};     ///< "data", "train", "evaluate", "experiment", "validate", "run"
  std::string name = {};     ///< a third word: "synth" of `data meshnet synth`; empty for most
  std::string summary = {};  ///< one line, lower case, no full stop
  std::string inputs = {};   ///< positional arguments as help shows them: "SCAN..."; empty = none
  bool needs_model = false;  ///< takes --model
  bool needs_device = true;  ///< takes --device and the plan's wishes
  std::vector<Option> options = {};
  bool takes_settings = false;  ///< KEY=VALUE words, any key of the configuration
  std::vector<std::pair<std::string, std::string>> examples = {};  ///< command, what it does
  std::function<Outcome(const Request&)> run = {};
};

/// One of several trainings that one command does, each from the best weights of the one before.
struct TrainStage {
  std::string name;                                           ///< its folder below the output
  std::vector<std::pair<std::string, std::string>> settings;  ///< its own values of keys
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual std::vector<Command> commands() const = 0;
  /// Options of `train` beside those that every family has; keys of the model and its data.
  virtual std::vector<Option> train_options() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> train_examples() const { return {}; }
  /// Stages that a person's configuration asks for; none: one training.
  virtual std::vector<TrainStage> train_stages(const Config& /*config*/) const { return {}; }
  virtual Recipe default_recipe() const = 0;
  /// A fresh model from a person's configuration; Usage error for values that cannot be.
  virtual std::unique_ptr<Model> configure(const Config& config) const = 0;
  /// The model that a checkpoint's header describes, without weights.
  virtual std::unique_ptr<Model> build(const Json& config) const = 0;
  virtual std::unique_ptr<Task> task(const Request& request) const = 0;
  /// Can `path` be a file or folder of the original systems? Looks, does not load.
  virtual bool recognizes(const std::filesystem::path& path) const = 0;
  virtual std::unique_ptr<Model> import_model(const std::filesystem::path& path) const = 0;
  /// Formats of weights that `convert` and `export` write: "safetensors", "pt".
  virtual std::vector<std::string> formats() const = 0;
  /// The format that a name such as "net.pt" suggests; empty if none.
  virtual std::string format_of(const std::filesystem::path& /*path*/) const { return {}; }
  /// Options of `convert` for those formats; each key's value is a text.
  virtual std::vector<Option> format_options() const { return {}; }
  /// Writes, reads back and compares; Parity error, and nothing left behind, if they differ.
  /// `config` has what format_options() set.
  virtual void export_model(Model& model, const std::string& format,
                            const std::filesystem::path& path, const Config& config) const = 0;
  /// The model as operators for a format that is a graph ("onnx", "tfjs", "web"); nothing if the
  /// family has none for it.
  virtual std::optional<GraphExport> graph(Model& /*model*/, const std::string& /*format*/,
                                           const Config& /*config*/) const {
    return std::nullopt;
  }
  virtual std::vector<Option> graph_options() const { return {}; }
};

void register_family(std::unique_ptr<Family> family);
std::vector<const Family*> families();
const Family& find_family(const std::string& name);  ///< Usage error with a "did you mean"

/// The checkpoint that a run is known by: its best, else its last. Any other path is its own.
std::filesystem::path model_path(const std::filesystem::path& path);
/// A checkpoint folder of ours, a run, or anything that a family recognizes; with its weights, on
/// the CPU.
/// `family` empty: whichever it is; else Input error for a model of another family.
std::unique_ptr<Model> open_model(const std::filesystem::path& path,
                                  const std::string& family = {});

}  // namespace ubique::engine
