// SPDX-License-Identifier: Apache-2.0
// Builds the parser, runs the chosen verb, and turns every error into a message and an exit code.
#include "ubique/cli/app.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "build_facts.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/device/host.h"
#include "ubique/device/runtime.h"

namespace ubique::cli {
namespace {

std::string examples_text(const std::vector<Example>& examples) {
  std::size_t width = 0;
  for (const auto& example : examples) width = std::max(width, example.command.size());
  std::string text = examples.empty() ? "" : "Examples:\n";
  for (const auto& example : examples) {
    text += fmt::format("  {:<{}}  {}\n", example.command, width, example.what);
  }
  return text;
}

/// Wrapped here: the parser does not wrap it.
std::string description_text(const Verb& verb) {
  if (verb.description.empty()) return {};
  return join(wrap(verb.description, 96), "\n") + "\n\n";
}

void add_verb(CLI::App& app, const Verb& verb, std::function<ExitCode()>& chosen) {
  auto* command = app.add_subcommand(verb.name, verb.summary);
  command->footer(description_text(verb) + examples_text(verb.examples));
  auto action = verb.setup(*command);
  command->final_callback([action, &chosen] { chosen = action; });
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const auto& verb : verbs()) names.push_back(verb.name);
  return names;
}

/// The command that was being parsed: `data meshnet synth`, not only `data`.
const CLI::App* innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
  return current;
}

/// "ubique data meshnet synth".
std::string command_line(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? "ubique" : command_line(*parent) + " " + command.get_name();
}

/// Long option names of the command that was being parsed, for "did you mean".
std::vector<std::string> known_options(const CLI::App& app) {
  std::vector<std::string> names = {"--help"};
  for (const auto* option : innermost(app)->get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

void check_verb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto names = verb_names();
  const std::string word = argv[1];
  check(std::find(names.begin(), names.end(), word) != names.end(), ErrorKind::Usage,
        "[cli.parse] unknown verb; got '{}', expected one of {}.{} See 'ubique --help'.", word,
        join(names, ", "), hint(word, names));
}

/// Checks family and sub-command words first: the parser would only call a typo an extra argument.
void check_subcommands(const CLI::App& app, int argc, char** argv) {
  const CLI::App* current = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const auto* command : current->get_subcommands({})) {
      names.push_back(command->get_name());
      if (command->get_name() == argv[i]) next = command;
    }
    if (names.empty()) return;
    check(next != nullptr, ErrorKind::Usage,
          "[cli.parse] '{}' does not take that word; got '{}', expected {}.{}",
          command_line(*current), argv[i], join(names, ", "), hint(argv[i], names));
    current = next;
  }
}

[[noreturn]] void fail_parse(const CLI::App& app, const CLI::ParseError& error) {
  const auto help = command_line(*innermost(app));
  std::string advice;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto words = split(error.what(), ' ');
    for (const auto& word : words) {
      if (word.starts_with("-")) advice = hint(word.substr(0, word.find('=')), known_options(app));
    }
  }
  fail(ErrorKind::Usage, "[cli.parse] {}.{} See '{} --help'.", trim(error.what()), advice, help);
}

ExitCode parse_and_run(int argc, char** argv) {
  static char help[] = "--help";
  if (argc == 2 && std::string_view(argv[1]) == "help") argv[1] = help;
  check_verb(argc, argv);
  std::function<ExitCode()> chosen;
  const auto app = build_app(chosen);
  check_subcommands(*app, argc, argv);
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto* command = innermost(*app);
    const auto* parent = command->get_parent();
    print_out(parent == nullptr ? app->help() : command->help(command_line(*parent)));
    return ExitCode::Ok;
  } catch (const CLI::CallForVersion&) {
    print_out(version_text());
    return ExitCode::Ok;
  } catch (const CLI::ParseError& error) {
    fail_parse(*app, error);
  }
  if (!chosen) {
    print_out(app->help());
    return ExitCode::Ok;
  }
  return chosen();
}

ExitCode report(ErrorKind kind, const std::string& message) {
  std::fflush(stdout);
  log::error("{}", message);
  return exit_code(kind);
}

}  // namespace

std::unique_ptr<CLI::App> build_app(std::function<ExitCode()>& chosen) {
  auto app = std::make_unique<CLI::App>(
      "Trains and runs the same models on CUDA, Metal and CPU, and proves that the numbers agree.",
      "ubique");
  app->set_version_flag("--version", version_text());
  app->require_subcommand(0, 1);
  app->get_formatter()->column_width(34);
  for (const auto& verb : verbs()) add_verb(*app, verb, chosen);
  app->footer(examples_text({{"ubique info", "what this machine can do"},
                             {"ubique doctor", "prove it with numbers"},
                             {"ubique demo meshnet", "train and use a network, from nothing"},
                             {"ubique VERB --help", "options and examples of a verb"}}));
  return app;
}

std::string version_text() {
  return fmt::format("ubique {}\ncommit    {}\nLibTorch  {}\ncompiler  {}, {}\nplatform  {} {}\n",
                     UBIQUE_VERSION, UBIQUE_COMMIT, device::torch_version(), UBIQUE_COMPILER,
                     UBIQUE_BUILD_TYPE, device::host().platform, device::host().architecture);
}

ExitCode run(int argc, char** argv) {
  log::configure(log::Level::Normal);
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    return report(error.kind(), error.what());
  } catch (const c10::Error& error) {
    const bool full = device::is_out_of_memory(error);
    return report(full ? ErrorKind::Device : ErrorKind::Internal,
                  fmt::format("[torch] {}", error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::Device, "[cli.run] memory ran out; try a smaller batch or --memory.");
  } catch (const std::exception& error) {
    return report(ErrorKind::Internal, fmt::format("[internal] {}", error.what()));
  }
}

}  // namespace ubique::cli
