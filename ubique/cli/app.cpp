// SPDX-License-Identifier: Apache-2.0
// Builds the parser, runs the chosen verb, and turns every error into a message and an exit code.
#include "ubique/cli/app.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "build_facts.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/usage_errors.h"
#include "ubique/device/host.h"
#include "ubique/device/runtime.h"

namespace ubique::cli {
namespace {

/// Without the "{false}" that the parser puts behind --no-x.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    auto name = CLI::Formatter::make_option_name(option, is_positional);
    constexpr std::string_view kMark = "{false}";
    const auto place = name.find(kMark);
    return place == std::string::npos ? name : name.erase(place, kMark.size());
  }
};

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

/// `help train meshnet` is `train meshnet --help`. Without the program's name.
std::vector<std::string> typed_words(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

ExitCode parse_and_run(int argc, char** argv) {
  auto words = typed_words(argc, argv);
  std::function<ExitCode()> chosen;
  const auto app = build_app(chosen);
  check_words(*app, words);
  try {
    std::ranges::reverse(words);  // the parser takes them from the back
    app->parse(std::move(words));
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
  app->formatter(std::make_shared<HelpFormatter>());
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
  } catch (const std::filesystem::filesystem_error& error) {
    return report(ErrorKind::Input, fmt::format("[cli.files] cannot use {}; {}.",
                                                error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return report(ErrorKind::Internal, fmt::format("[internal] {}", error.what()));
  }
}

}  // namespace ubique::cli
