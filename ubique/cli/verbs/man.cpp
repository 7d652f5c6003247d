// SPDX-License-Identifier: Apache-2.0
// The manual page, made from the same table as the parser.
#include <fmt/format.h>

#include "build_facts.h"
#include "ubique/base/text/text.h"
#include "ubique/cli/app.h"

namespace ubique::cli {
namespace {

/// Text for roff: no line may begin with a dot, backslashes and hyphens are escaped.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string option_entry(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_name(/*positional=*/true));
  const bool takes_value = option.get_expected_max() > 0 && !option.get_positional();
  auto text = fmt::format(".TP\n.B {}{}\n{}\n", roff(join(names, ", ")),
                          takes_value ? " " + roff(option.get_type_name()) : "",
                          roff(option.get_description()));
  if (!option.get_envname().empty()) {
    text += fmt::format("Environment: {}.\n", roff(option.get_envname()));
  }
  return text;
}

/// The families and commands under a verb.
std::string inner_commands(const CLI::App& command, const std::string& path) {
  std::string text;
  for (const auto* inner : command.get_subcommands({})) {
    const auto name = path + " " + inner->get_name();
    text += fmt::format(".SS {}\n{}\n", roff(name), roff(inner->get_description()));
    for (const auto* option : inner->get_options()) text += option_entry(*option);
    text += inner_commands(*inner, name);
  }
  return text;
}

std::string verb_section(const Verb& verb, const CLI::App& command) {
  auto text = fmt::format(".SS {}\n{}\n", roff(verb.name), roff(verb.summary));
  if (!verb.description.empty()) text += fmt::format(".PP\n{}\n", roff(verb.description));
  for (const auto* option : command.get_options()) text += option_entry(*option);
  for (const auto& example : verb.examples) {
    text += fmt::format(".PP\n.EX\n    {}\n.EE\n{}\n", roff(example.command), roff(example.what));
  }
  return text + inner_commands(command, verb.name);
}

std::string manual_page() {
  std::function<ExitCode()> unused;
  const auto app = build_app(unused);
  auto text = fmt::format(
      ".TH UBIQUE 1 \"\" \"ubique {}\" \"User Commands\"\n.SH NAME\nubique \\- {}\n"
      ".SH SYNOPSIS\n.B ubique\n.I VERB\n[options]\n.SH VERBS\n",
      UBIQUE_VERSION, roff(app->get_description()));
  for (const auto& verb : verbs()) {
    text += verb_section(verb, *app->get_subcommand(verb.name));
  }
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nall well\n.TP\n.B 1\na bug of ours\n.TP\n.B 2\nwrong usage\n.TP\n.B 3\nbad "
      "input\n"
      ".TP\n.B 4\nthe device is missing, or the work does not fit on it\n"
      ".TP\n.B 5\nnumbers that must agree do not\n.TP\n.B 130\ninterrupted\n"
      ".SH ENVIRONMENT\n"
      ".TP\n.B UBIQUE_DEVICE\ndefault of \\-\\-device\n"
      ".TP\n.B UBIQUE_CACHE_DIR\nwhere probe results are kept\n"
      ".TP\n.B UBIQUE_SHAM\nwhat the pretend device refuses and gets wrong\n"
      ".TP\n.B NO_COLOR\nno colours\n";
  return text;
}

}  // namespace

Verb man_verb() {
  return {
      .name = "man",
      .summary = "write the manual page",
      .description = {},
      .examples = {{"ubique man | man -l -", "read it"}, {"ubique man > ubique.1", "install it"}},
      .setup = [](CLI::App&) -> std::function<ExitCode()> {
        return [] {
          print_out(manual_page());
          return ExitCode::Ok;
        };
      }};
}

}  // namespace ubique::cli
