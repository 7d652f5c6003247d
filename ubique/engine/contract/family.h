// SPDX-License-Identifier: Apache-2.0
// The contract of a family and the registry through which everyone reaches it. A family is one
// folder under models/; CMake finds it, nothing else is edited.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ubique/engine/contract/format.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/contract/request.h"
#include "ubique/engine/contract/task.h"

namespace ubique::engine {

/// One of several trainings that one `train` command does, each from the best weights of the one
/// before.
struct TrainStage {
  std::string name;                                           ///< its folder below the output
  std::vector<std::pair<std::string, std::string>> settings;  ///< its own values of keys
};

/// What `ubique train FAMILY` offers beside the options that every family has.
struct TrainCommand {
  std::vector<Option> options = {};  ///< keys of the model and its data
  Examples examples = {};
  /// Stages that a configuration asks for; none: one training.
  std::function<std::vector<TrainStage>(const Config&)> stages = {};
  /// Gives our keys the values of another program's (Config::adopt), before any key is read.
  std::function<void(Config&)> adopt = {};
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual std::vector<Command> commands() const = 0;
  virtual TrainCommand train_command() const = 0;
  /// A fresh model from a person's configuration; Usage error for impossible values.
  virtual std::unique_ptr<Model> configure(const Config& config) const = 0;
  /// What that model needs of a machine; for `plan`. A family overrides it where the model itself
  /// would be too large for this machine.
  virtual plan::Needs needs(const Config& config) const { return configure(config)->needs(); }
  /// The model that a checkpoint's header describes, not yet with its weights. Input error if the
  /// header contradicts them, before anything is allocated (check_shapes): a header may lie.
  virtual std::unique_ptr<Model> build(const Json& config, const NamedTensors& weights) const = 0;
  /// One training job. Reads every setting, then calls config.finish(), and only then opens data: a
  /// mistyped key is named at once, not after an hour of reading.
  virtual std::unique_ptr<Task> task(const Request& request) const = 0;
  /// Can `path` be a file or folder of the original systems? Looks, does not load.
  virtual bool recognizes(const std::filesystem::path& path) const = 0;
  virtual std::unique_ptr<Model> import_model(const std::filesystem::path& path) const = 0;
  /// What `convert` and `export` can write.
  virtual std::vector<Format> formats() const = 0;
};

void register_family(std::unique_ptr<Family> family);
std::vector<const Family*> families();
const Family& find_family(const std::string& name);  ///< Usage error with a "did you mean"

}  // namespace ubique::engine
