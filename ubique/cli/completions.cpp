// SPDX-License-Identifier: Apache-2.0
// Shell completions, made by walking the parser, so that they cannot go stale.
#include <fmt/format.h>

#include "ubique/base/text.h"
#include "ubique/cli/app.h"
#include "ubique/device/backend.h"

namespace ubique::cli {
namespace {

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    for (const auto& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Inside single quotes of a shell.
std::string quoted(std::string text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

std::string bash_script(const CLI::App& app) {
  std::string verbs, cases, words;
  for (const auto* command : app.get_subcommands({})) {
    verbs += " " + command->get_name();
    cases += fmt::format("    {}) flags=\"{}\" ;;\n", command->get_name(),
                         join(flags_of(*command), " "));
    for (const auto* option : command->get_options()) {
      const auto choices = option_words(*option);
      if (choices.empty() || option->get_lnames().empty()) continue;
      words += fmt::format("    {}:--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n",
                           command->get_name(), option->get_lnames().front(), join(choices, " "));
    }
  }
  return fmt::format(R"(# bash completion for ubique; load with: source <(ubique completions bash)
_ubique() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
  local verb="${{COMP_WORDS[1]}}" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$cur"))
    return
  fi
  case "$verb:$prev" in
{}  esac
  case "$verb" in
{}  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}}
complete -o filenames -F _ubique ubique
)",
                     trim(verbs), words, cases);
}

std::string zsh_script(const CLI::App& app) {
  std::string verbs, cases;
  for (const auto* command : app.get_subcommands({})) {
    verbs += fmt::format(
        "    {}\n", quoted(command->get_name() + ":" + first_line(command->get_description())));
    std::string rows;
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) {
        auto text = option->get_description();
        std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ':'; });
        const auto choices = option_words(*option);
        const bool flag = option->get_expected_max() == 0;
        const std::string values = flag ? ""
                                   : choices.empty()
                                       ? ":value:_files"
                                       : fmt::format(":value:({})", join(choices, " "));
        rows += " \\\n        " + quoted(fmt::format("--{}[{}]{}", name, text, values));
      }
    }
    cases += fmt::format("      {}) _arguments{} \\\n        '*:file:_files' ;;\n",
                         command->get_name(), rows);
  }
  return fmt::format(R"(#compdef ubique
# zsh completion for ubique; put it on $fpath as _ubique
_ubique() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
  else
    local verb=${{words[2]}}
    shift words; (( CURRENT-- ))
    case $verb in
{}    esac
  fi
}}
compdef _ubique ubique
)",
                     verbs, cases);
}

std::string fish_script(const CLI::App& app) {
  std::string text =
      "# fish completion for ubique; save as ubique.fish in fish's completions folder\n";
  for (const auto* command : app.get_subcommands({})) {
    text += fmt::format("complete -c ubique -n __fish_use_subcommand -a {} -d {}\n",
                        command->get_name(), quoted(first_line(command->get_description())));
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) {
        const auto choices = option_words(*option);
        text += fmt::format("complete -c ubique -n '__fish_seen_subcommand_from {}' -l {} -d {}",
                            command->get_name(), name, quoted(option->get_description()));
        if (!choices.empty()) text += fmt::format(" -x -a '{}'", join(choices, " "));
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> option_words(const CLI::Option& option) {
  if (option.get_lnames().empty()) return {};
  if (option.get_lnames().front() == "device") {
    auto names = device::backend_names();
    names.insert(names.begin(), {"auto", "gpu", "metal"});
    return names;
  }
  // CLI::IsMember describes itself as "{a,b,c}" in the option's type name.
  const auto type = option.get_type_name();
  const auto open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return split(std::string_view(type).substr(open + 1, close - open - 1), ',');
}

Verb completions_verb() {
  return {.name = "completions",
          .summary = "write completions for bash, zsh or fish",
          .description = {},
          .examples = {{"source <(ubique completions bash)", "for this shell"},
                       {"ubique completions zsh > _ubique", "put it on $fpath"}},
          .setup = [](CLI::App& command) -> std::function<ExitCode()> {
            auto shell = std::make_shared<std::string>();
            command.add_option("shell", *shell, "bash, zsh or fish")
                ->required()
                ->check(CLI::IsMember({"bash", "zsh", "fish"}));
            return [shell] {
              std::function<ExitCode()> unused;
              const auto app = build_app(unused);
              print_out(*shell == "bash"  ? bash_script(*app)
                        : *shell == "zsh" ? zsh_script(*app)
                                          : fish_script(*app));
              return ExitCode::Ok;
            };
          }};
}

}  // namespace ubique::cli
