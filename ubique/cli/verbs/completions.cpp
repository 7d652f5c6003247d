// SPDX-License-Identifier: Apache-2.0
// Shell completions, made by walking the parser, so that they cannot go stale.
#include <fmt/format.h>

#include "ubique/base/text/text.h"
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

/// Escaped for single quotes in a shell.
std::string quoted(std::string text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + out + "'";
}

/// A command with the words that lead to it; nested commands come before their parents.
struct Row {
  std::vector<std::string> path;       // "data", "meshnet", "synth"
  std::vector<std::string> followers;  // names of its sub-commands
  const CLI::App* command;
};

void collect_rows(const CLI::App& command, std::vector<std::string> path, std::vector<Row>& rows) {
  std::vector<std::string> followers;
  for (const auto* next : command.get_subcommands({})) {
    followers.push_back(next->get_name());
    auto longer = path;
    longer.push_back(next->get_name());
    collect_rows(*next, std::move(longer), rows);
  }
  rows.push_back({std::move(path), std::move(followers), &command});
}

std::vector<Row> rows_of(const CLI::App& app) {
  std::vector<Row> rows;
  collect_rows(app, {}, rows);
  return rows;
}

std::string bash_script(const CLI::App& app) {
  std::string cases, values;
  for (const auto& row : rows_of(app)) {
    const auto path = join(row.path, " ");
    cases += fmt::format("    \"{}\"*) flags=\"{}\" words=\"{}\" ;;\n", path,
                         join(flags_of(*row.command), " "), join(row.followers, " "));
    for (const auto* option : row.command->get_options()) {
      const auto choices = option_words(*option);
      if (choices.empty() || option->get_lnames().empty()) continue;
      values +=
          fmt::format("    \"{}\"*:--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n",
                      path, option->get_lnames().front(), join(choices, " "));
    }
  }
  return fmt::format(R"(# bash completion for ubique; load with: source <(ubique completions bash)
_ubique() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path="" flags="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in -*) break ;; esac
    path="${{path:+$path }}${{COMP_WORDS[i]}}"
  done
  case "$path:$prev" in
{}  esac
  case "$path" in
{}  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur"))
       else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
  esac
}}
complete -o filenames -F _ubique ubique
)",
                     values, cases);
}

std::string zsh_options(const CLI::App& command) {
  std::string rows;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) {
      auto text = option->get_description();
      std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ':'; });
      const auto choices = option_words(*option);
      const bool flag = option->get_expected_max() == 0;
      const std::string values = flag              ? ""
                                 : choices.empty() ? ":value:_files"
                                                   : fmt::format(":value:({})", join(choices, " "));
      rows += " \\\n        " + quoted(fmt::format("--{}[{}]{}", name, text, values));
    }
  }
  return rows;
}

std::string zsh_script(const CLI::App& app) {
  std::string cases;
  for (const auto& row : rows_of(app)) {
    const auto path = join(row.path, " ");
    if (row.followers.empty()) {
      cases += fmt::format(
          "    {}*) shift {} words; (( CURRENT -= {} )); _arguments{} \\\n        "
          "'*:file:_files' ;;\n",
          quoted(path), row.path.size(), row.path.size(), zsh_options(*row.command));
      continue;
    }
    cases += fmt::format("    {}*) names=(\n", quoted(path));
    for (const auto* next : row.command->get_subcommands({})) {
      cases += fmt::format("      {}\n",
                           quoted(next->get_name() + ":" + first_line(next->get_description())));
    }
    cases += "      ); _describe 'command' names ;;\n";
  }
  return fmt::format(R"(#compdef ubique
# zsh completion for ubique; put it on $fpath as _ubique
_ubique() {{
  local -a names path_words
  local word
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    [[ $word == -* ]] && break
    path_words+=("$word")
  done
  case "${{(j: :)path_words}}" in
{}  esac
}}
compdef _ubique ubique
)",
                     cases);
}

/// The condition under which fish offers a completion: the words typed so far.
std::string fish_condition(const std::vector<std::string>& path) {
  std::vector<std::string> parts;
  for (const auto& word : path) parts.push_back("__fish_seen_subcommand_from " + word);
  return join(parts, "; and ");
}

std::string fish_script(const CLI::App& app) {
  std::string text =
      "# fish completion for ubique; save as ubique.fish in fish's completions folder\n";
  for (const auto& row : rows_of(app)) {
    const auto condition = row.path.empty() ? "__fish_use_subcommand" : fish_condition(row.path);
    for (const auto* next : row.command->get_subcommands({})) {
      text += fmt::format("complete -c ubique -n {} -a {} -d {}\n", quoted(condition),
                          next->get_name(), quoted(first_line(next->get_description())));
    }
    for (const auto* option : row.command->get_options()) {
      if (row.path.empty()) break;
      for (const auto& name : option->get_lnames()) {
        const auto choices = option_words(*option);
        text += fmt::format("complete -c ubique -n {} -l {} -d {}", quoted(condition), name,
                            quoted(option->get_description()));
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
