// SPDX-License-Identifier: Apache-2.0
// From a family's command to a sub-command with its flags, and from the flags to a Request.
#include "ubique/cli/family_verb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "ubique/base/files/stream.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/app.h"
#include "ubique/cli/config_files.h"
#include "ubique/cli/interrupt.h"
#include "ubique/cli/several_ranks.h"
#include "ubique/cli/wish_options.h"

namespace ubique::cli {
namespace {

using engine::Command;
using engine::Family;

/// The values of one command's flags; kept alive by its action.
struct RowFlags {
  std::shared_ptr<CommonFlags> common;
  FlagTexts texts;
  std::string config, config_name, output, model;
  std::vector<std::string> inputs, settings;
};

CLI::Option* add_switch(CLI::App& app, const engine::Option& option, FlagTexts& texts) {
  // "--fp16,!--no-fp16": CLI11 gives -1 for the negated form.
  return app.add_flag_function(
      option.flag,
      [&texts, key = option.key](std::int64_t count) { texts[key] = count > 0 ? "true" : "false"; },
      option.help);
}

/// An empty value would look like a flag that was not given.
std::string not_empty(const std::string& text) {
  return text.empty() ? "got an empty text, expected a value" : "";
}

void add_settings_options(CLI::App& app, const Family* family, RowFlags& flags) {
  app.add_option("settings", flags.settings, "any setting of the configuration: epochs=20")
      ->type_name("KEY=VALUE");
  app.add_option("--config-name", flags.config_name,
                 fmt::format("a file of configs/{} by its name, without .yaml",
                             family == nullptr ? "FAMILY" : family->name()))
      ->type_name("NAME")
      ->check(not_empty);
}

void add_row_options(CLI::App& app, const Family* family, const Command& command, RowFlags& flags) {
  if (!command.inputs.empty()) {
    const bool several = command.inputs.find("...") != std::string::npos;
    auto* option = app.add_option("inputs", flags.inputs, command.inputs);
    option->type_name("PATH");
    if (!several) option->expected(1);
    if (!command.inputs.starts_with("[")) option->required();
  }
  app.add_option("--config", flags.config, "YAML file with any of these settings")
      ->type_name("FILE");
  if (command.takes_settings) add_settings_options(app, family, flags);
  if (command.needs_model) {
    app.add_option("--model,--checkpoint", flags.model,
                   "a run, a checkpoint, or a file or folder to import")
        ->required()
        ->type_name("PATH");
  }
  for (const auto& option : command.options) {
    auto* added = option.type.empty()
                      ? add_switch(app, option, flags.texts)
                      : app.add_option(option.flag, flags.texts[option.key], option.help)
                            ->type_name(option.type)
                            ->check(not_empty);
    if (!option.group.empty()) added->group(option.group);
  }
  // Help has its headings in this order.
  flags.common = add_common_flags(app, command.needs_device);
  if (command.needs_device) add_wish_options(app, flags.texts);
  app.add_option("-o,--output", flags.output, "where to write")
      ->type_name("PATH")
      ->group(kOutputGroup);
}

/// The flag of a key, as a person types it: "--lr".
std::string flag_of(const Command& command, const std::string& key) {
  const auto option = std::ranges::find(command.options, key, &engine::Option::key);
  auto flag = option == command.options.end() ? "--" + key : option->flag;
  const auto names = split(flag, ',');
  const auto name = std::ranges::find_if(names, [](const auto& n) { return n.starts_with("--"); });
  flag = name == names.end() ? names.front() : *name;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

/// One setting as a flag and as a word, with two values: which one was meant?
void check_said_once(const Command& command, const FlagTexts& texts, const std::string& key,
                     const std::string& value) {
  const auto flag = texts.find(key);
  if (flag == texts.end() || flag->second.empty() || flag->second == value) return;
  fail(ErrorKind::Usage,
       "[cli.settings] {} is set twice; got {} {} and {}={}, expected one of them.", key,
       flag_of(command, key), flag->second, key, value);
}

/// The flags that were typed, --device too; UBIQUE_DEVICE is weaker than a word.
FlagTexts typed_flags(const RowFlags& flags) {
  auto texts = flags.texts;
  const auto& device = flags.common->device;
  const char* variable = std::getenv("UBIQUE_DEVICE");
  if (device != "auto" && (variable == nullptr || device != variable)) texts["device"] = device;
  return texts;
}

/// "KEY=VALUE", or "+KEY=VALUE" as Hydra users write a key that the file lacks.
void set_words(Config& config, const Command& command, const RowFlags& flags) {
  const auto typed = typed_flags(flags);
  for (const auto& word : flags.settings) {
    const auto equals = word.find('=');
    const auto from = word.starts_with('+') ? 1U : 0U;
    check(equals != std::string::npos && equals > from, ErrorKind::Usage,
          "[cli.settings] a word that sets nothing; got '{}', expected KEY=VALUE.", word);
    const auto key = word.substr(from, equals - from), value = word.substr(equals + 1);
    check_said_once(command, typed, key, value);
    config.set_flag(key, value);
  }
}

Config read_config(const Family* family, const RowFlags& flags) {
  if (family == nullptr || flags.config_name.empty()) {
    if (flags.config.empty()) return {};
    return Config::from_file(family == nullptr ? flags.config
                                               : config_path(family->name(), flags.config));
  }
  check(flags.config.empty(), ErrorKind::Usage,
        "[cli.settings] --config and --config-name both name the file; got {} and {}, expected "
        "one.",
        flags.config, flags.config_name);
  return Config::from_file(named_config(family->name(), flags.config_name));
}

engine::Request make_request(const Family* family, const Command& command, const RowFlags& flags) {
  engine::Request request;
  request.config = read_config(family, flags);
  if (family != nullptr) add_family_variables(request.config, family->name());
  set_flags(request.config, flags.texts);
  if (flags.common->device != "auto") request.config.set_flag("device", flags.common->device);
  set_words(request.config, command, flags);
  request.inputs = flags.inputs;
  request.output = flags.output;
  request.model = flags.model;
  request.fallback = flags.common->fallback;
  request.progress = Progress::choose_style(STDERR_FILENO, flags.common->json, flags.common->quiet);
  request.stop_requested = interrupted;
  request.print = [](std::string_view text) {
    write_fully(STDOUT_FILENO, std::as_bytes(std::span(text)), "standard output");
  };
  request.prompt = [](std::string_view text) {
    write_fully(STDERR_FILENO, std::as_bytes(std::span(text)), "standard error");
  };
  return request;
}

ExitCode run_row(const Family* family, const Command& command, const RowFlags& flags) {
  const auto request = make_request(family, command, flags);
  watch_interrupts();
  const auto outcome = run_with_others(command, request);
  if (flags.common->json) {
    if (!outcome.json.is_null())
      print_json(outcome.json);  // null: standard output already holds data
  } else {
    print_out(outcome.text);
  }
  return outcome.code;
}

std::string row_footer(const Command& command) {
  std::string text = command.examples.empty() ? "" : "Examples:\n";
  for (const auto& [example, what] : command.examples) {
    text += fmt::format("  {}\n      {}\n", example, what);
  }
  return text;
}

/// `beside_own`: the family has a row without a name too, which then needs no further word.
void add_row(CLI::App& verb, const Family& family, const Command& command, bool beside_own,
             const std::shared_ptr<std::function<ExitCode()>>& chosen) {
  auto* parent = &verb;
  auto name = family.name();
  if (!command.name.empty()) {
    const auto existing =
        verb.get_subcommands([&](const CLI::App* app) { return app->get_name() == family.name(); });
    parent =
        existing.empty() ? verb.add_subcommand(family.name(), family.summary()) : existing.front();
    if (!beside_own) parent->require_subcommand(1);
    name = command.name;
  }
  auto* row = parent->add_subcommand(name, command.summary);
  auto flags = std::make_shared<RowFlags>();
  add_row_options(*row, &family, command, *flags);
  row->footer(row_footer(command));
  row->final_callback([flags, &family, command, chosen, row] {
    if (!row->get_subcommands().empty()) return;  // a further word was given: that row is meant
    *chosen = [flags, &family, command] { return run_row(&family, command, *flags); };
  });
}

/// For a family with several commands under one verb: one example of each in the family's help.
void add_family_footer(const CLI::App& verb, const Family& family,
                       const std::vector<Command>& commands) {
  if (commands.empty() || commands.front().name.empty()) return;
  Command all;
  for (const auto& command : commands) {
    if (!command.examples.empty()) all.examples.push_back(command.examples.front());
  }
  verb.get_subcommand(family.name())->footer(row_footer(all));
}

}  // namespace

std::vector<Command> family_commands(const Family& family, const std::string& verb) {
  auto commands = family.commands();
  std::erase_if(commands, [&](const Command& command) { return command.verb != verb; });
  return commands;
}

Verb family_verb(std::string name, std::string summary, std::string description,
                 std::vector<Example> examples, FamilyRows rows,
                 std::optional<engine::Command> without_family) {
  auto setup = [name, rows, without_family](CLI::App& app) -> std::function<ExitCode()> {
    auto chosen = std::make_shared<std::function<ExitCode()>>();
    for (const auto* family : engine::families()) {
      auto commands = rows(*family, name);
      const auto named = std::stable_partition(commands.begin(), commands.end(),
                                               [](const Command& row) { return row.name.empty(); });
      const bool own = named != commands.begin();
      for (const auto& command : commands) add_row(app, *family, command, own, chosen);
      add_family_footer(app, *family, commands);
    }
    app.require_subcommand(0, 1);
    auto flags = std::make_shared<RowFlags>();
    if (without_family) {
      add_row_options(app, nullptr, *without_family, *flags);
    }
    return [chosen, flags, without_family, &app] {
      if (*chosen) return (*chosen)();
      if (without_family && app.count_all() > 1) return run_row(nullptr, *without_family, *flags);
      print_out(app.help("ubique"));
      return ExitCode::Usage;
    };
  };
  return {std::move(name),     std::move(summary), std::move(description),
          std::move(examples), std::move(setup),   std::move(rows)};
}

}  // namespace ubique::cli
