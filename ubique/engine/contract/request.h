// SPDX-License-Identifier: Apache-2.0
// What a person asks of a command and what the command answers: the terms between the command line
// (or another front end) and the families.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/terminal/progress.h"
#include "ubique/base/text/json.h"

namespace ubique::engine {

/// A flag of a command, which is a configuration key (YAML, UBIQUE_*) as well.
struct Option {
  std::string flag;  ///< "--channels", "-c,--channels"
  std::string key;   ///< "channels"
  std::string type;  ///< "N", "PATH"; empty: a switch, "--x" or "--x,!--no-x"
  std::string help;
  std::string group = {};  ///< heading of help under which it stands; empty: with the others
};

/// Headings that several families use.
inline constexpr const char* kDataGroup = "Data";
inline constexpr const char* kModelGroup = "Model";
inline constexpr const char* kTrainingGroup = "Training";

/// The same options under one heading.
std::vector<Option> in_group(const std::string& group, std::vector<Option> options);
/// Several lists of options as one.
std::vector<Option> all_options(const std::vector<std::vector<Option>>& lists);

/// A command line and what it does, for --help.
using Examples = std::vector<std::pair<std::string, std::string>>;

/// Receives output as it is produced.
using Sink = std::function<void(std::string_view)>;

struct Request {
  Config config;                    ///< flags > environment > YAML > defaults
  std::vector<std::string> inputs;  ///< positional arguments
  std::filesystem::path output;     ///< -o; empty = the command's default
  std::string model;                ///< --model
  std::string device;               ///< of `train`: the backend's name ("cuda"), already selected
  bool fallback = false;            ///< --fallback
  ProgressStyle progress = ProgressStyle::Lines;
  std::function<bool()> stop_requested;  ///< Ctrl-C or SIGTERM came
  /// Data for standard output while the command runs (a video stream, a chat reply). The front end
  /// sets both; families never write to the terminal themselves.
  Sink print = [](std::string_view) {};
  Sink prompt = [](std::string_view) {};  ///< questions to the person, for standard error
};

/// A command's result: the text for people and the same for programs.
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
  Examples examples = {};
  std::function<Outcome(const Request&)> run = {};
};

}  // namespace ubique::engine
