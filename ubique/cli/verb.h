// SPDX-License-Identifier: Apache-2.0
// One verb of the command line: one file each, all in the table of verbs.cpp. Help, completions and
// the man page are made from the same table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"

namespace ubique::engine {
class Family;
struct Command;
}  // namespace ubique::engine

namespace ubique::cli {

struct Example {
  std::string command;  ///< "ubique info --json"
  std::string what;     ///< "the same for programs"
};

struct Verb {
  std::string name;
  std::string summary;      ///< one line, lower case, no full stop
  std::string description;  ///< a paragraph for --help and the man page; may be empty
  std::vector<Example> examples;
  /// Adds the verb's options to its sub-command and returns what runs it.
  std::function<std::function<ExitCode()>(CLI::App&)> setup;
  /// A family's commands, of verbs that have one sub-command per family.
  std::function<std::vector<engine::Command>(const engine::Family&, const std::string&)> rows = {};
};

/// Flags that mean the same on every verb.
struct CommonFlags {
  bool json = false, quiet = false, verbose = false;
  std::string device = "auto";
  bool fallback = false;
};

/// Headings of help that options of several files stand under.
constexpr const char* kDeviceGroup = "Device and plan";
constexpr const char* kOutputGroup = "Output";

/// Adds --json, --quiet and --verbose, and with_device adds --device and --fallback.
std::shared_ptr<CommonFlags> add_common_flags(CLI::App& app, bool with_device);

void print_out(const std::string& text);  ///< lines for people, to stdout; controls are escaped
void print_json(const Json& document);    ///< indented, to stdout

// The verbs, in the order of help.
Verb info_verb();
Verb doctor_verb();
Verb plan_verb();
Verb data_verb();
Verb train_verb();
Verb evaluate_verb();
Verb experiment_verb();
Verb validate_verb();
Verb run_verb();
Verb export_verb();
Verb convert_verb();
Verb inspect_verb();
Verb pull_verb();
Verb demo_verb();
Verb completions_verb();
Verb man_verb();
Verb serve_verb();
Verb launch_verb();
const std::vector<Verb>& verbs();

}  // namespace ubique::cli
