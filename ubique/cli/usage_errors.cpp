// SPDX-License-Identifier: Apache-2.0
// Checks the words before the parser does, and finds suggestions for options: by spelling, and by
// the names that other trainers use.
#include "ubique/cli/usage_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/contract/family.h"

namespace ubique::cli {
namespace {

/// An option of other trainers, and ours that means the same. Several rows: the first that the
/// command has.
struct ForeignName {
  std::string_view theirs, ours;
};

constexpr ForeignName kForeignNames[] = {
    {"--cn", "--config-name"},
    {"--data-format", "--channels-last"},
    {"--batch-size", "--global-batch-size"},
    {"--batch-size", "--batch"},
    {"--micro-batch-size", "--batch"},
    {"--per-device-train-batch-size", "--batch"},
    {"--train-batch-size", "--effective-batch"},
    {"--gradient-accumulation-steps", "--accumulation"},
    {"--accumulate-grad-batches", "--accumulation"},
    {"--gradient-checkpointing", "--checkpointing"},
    {"--learning-rate", "--lr"},
    {"--max-lr", "--lr"},
    {"--lr-scheduler", "--schedule"},
    {"--lr-scheduler-type", "--schedule"},
    {"--scheduler", "--schedule"},
    {"--warmup-ratio", "--warmup"},
    {"--num-epochs", "--epochs"},
    {"--num-train-epochs", "--epochs"},
    {"--max-epochs", "--epochs"},
    {"--total-steps", "--max-steps"},
    {"--num-steps", "--max-steps"},
    {"--max-grad-norm", "--clip-norm"},
    {"--gradient-clip-val", "--clip-norm"},
    {"--grad-clip", "--clip-norm"},
    {"--ema-decay", "--ema"},
    {"--optim", "--optimizer"},
    {"--random-seed", "--seed"},
    {"--num-workers", "--prefetch-threads"},
    {"--num-threads", "--threads"},
    {"--use-fp16", "--fp16"},
    {"--amp", "--fp16"},
    {"--half", "--fp16"},
    {"--precision", "--dtype"},
    {"--mixed-precision", "--dtype"},
    {"--bf16", "--dtype"},
    {"--gpu", "--device"},
    {"--gpus", "--device"},
    {"--cuda", "--device"},
    {"--accelerator", "--device"},
    {"--weights", "--model"},
    {"--ckpt", "--model"},
    {"--ckpt-path", "--model"},
    {"--pretrained", "--model"},
    {"--load-checkpoint", "--model"},
    {"--resume-from-checkpoint", "--resume-from"},
    {"--data-path", "--data"},
    {"--data-paths", "--data"},
    {"--dataset-dir", "--data"},
    {"--output-dir", "--output"},
    {"--out-dir", "--output"},
    {"--save-dir", "--output"},
    {"--log-interval", "--log-every"},
    {"--save-steps", "--checkpoint-every"},
    {"--early-stopping-patience", "--patience"},
};

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const auto* family : engine::families()) names.push_back(family->name());
  return names;
}

/// How deep a command is: 0 for the program, 1 for a verb, 2 for a family.
int depth_of(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? 0 : 1 + depth_of(*parent);
}

/// "verb", "family" or "command": what stands next after this command.
const char* next_word(const CLI::App& command) {
  constexpr const char* kWords[] = {"verb", "family", "command"};
  return kWords[std::min(depth_of(command), 2)];
}

/// What the original programs and other trainers call a verb.
constexpr ForeignName kForeignVerbs[] = {
    {"pretrain", "train"}, {"finetune", "train"}, {"fine-tune", "train"}, {"fit", "train"},
    {"generate", "run"},   {"predict", "run"},    {"infer", "run"},       {"segment", "run"},
    {"eval", "evaluate"},  {"test", "evaluate"},  {"devices", "info"},    {"device", "info"},
};

std::string word_hint(std::string_view word, const std::vector<std::string>& names) {
  const auto plain = word.ends_with(".py") ? word.substr(0, word.size() - 3) : word;
  for (const auto& [theirs, ours] : kForeignVerbs) {
    if (plain == theirs && std::ranges::find(names, ours) != names.end()) {
      return fmt::format(" Did you mean '{}'?", ours);
    }
  }
  return hint(plain, names);
}

[[noreturn]] void fail_word(const CLI::App& command, const std::string& word,
                            const std::vector<std::string>& names) {
  const auto families = family_names();
  const bool known_family =
      depth_of(command) == 1 && std::ranges::find(families, word) != families.end();
  fail(ErrorKind::Usage, "[cli.parse] {}; got '{}', expected one of {}.{} See '{} --help'.",
       known_family ? fmt::format("'{}' is not for that family", command_line(command))
                    : fmt::format("unknown {}", next_word(command)),
       word, join(names, ", "), known_family ? "" : word_hint(word, names), command_line(command));
}

/// An option where a verb, family or command must stand first.
void check_first_option(const CLI::App& command, const std::string& word,
                        const std::vector<std::string>& names) {
  const auto options = command.get_options([](const CLI::Option* option) {
    return !option->check_lname("help") && !option->check_lname("version");
  });
  // `export` has options of its own: it works without a family too.
  if (!options.empty() || command.get_option_no_throw(word) != nullptr) return;
  const auto line = command_line(command);
  fail(ErrorKind::Usage,
       "[cli.parse] '{}' needs a {} before its options; got '{}', expected one of {}, as in '{} {} "
       "{}'. See '{} --help'.",
       line, next_word(command), word, join(names, ", "), line, names.front(), word, line);
}

/// Long option names of the command that was being parsed.
std::vector<std::string> known_options(const CLI::App& app) {
  std::vector<std::string> names = {"--help"};
  for (const auto* option : innermost(app)->get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

}  // namespace

const CLI::App* innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
  return current;
}

std::string command_line(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? "ubique" : command_line(*parent) + " " + command.get_name();
}

void check_words(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* current = &app;
  for (const auto& word : words) {
    const auto commands = current->get_subcommands({});
    if (commands.empty()) return;
    const auto names = names_of(commands);
    if (word.starts_with('-')) {
      return check_first_option(*current, word.substr(0, word.find('=')), names);
    }
    const auto next = std::ranges::find(names, word);
    if (next == names.end()) fail_word(*current, word, names);
    current = commands[static_cast<std::size_t>(next - names.begin())];
  }
}

std::string option_hint(const std::string& word, const std::vector<std::string>& known) {
  if (word.size() <= 2) return {};  // every short name is near to "-x"
  std::string plain = word.starts_with("--") ? word : "-" + word;
  std::ranges::replace(plain, '_', '-');
  const auto has = [&](std::string_view name) {
    return std::ranges::find(known, name) != known.end();
  };
  if (has(plain)) return fmt::format(" Did you mean '{}'?", plain);
  for (const auto& [theirs, ours] : kForeignNames) {
    if (plain == theirs && has(ours)) return fmt::format(" Did you mean '{}'?", ours);
  }
  // The opposite of what was typed is never what was meant.
  auto candidates = known;
  if (!plain.starts_with("--no")) {
    std::erase_if(candidates, [](const auto& name) { return name.starts_with("--no-"); });
  }
  return hint(plain, candidates);
}

namespace {

/// The parser says only "shell is required"; the option's own help says what it takes.
void check_missing(const CLI::App& command, std::string_view message, const std::string& help) {
  const std::string name(message.substr(0, message.find(" is required")));
  const auto* option = command.get_option_no_throw(name);
  if (name.size() == message.size() || option == nullptr) return;
  fail(ErrorKind::Usage, "[cli.parse] {} is missing; expected '{}'. See '{} --help'.",
       name == "inputs" ? "what to work on" : name, option->get_description(), help);
}

}  // namespace

void fail_parse(const CLI::App& app, const CLI::ParseError& error) {
  const auto help = command_line(*innermost(app));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto words = split(error.what(), ' ');
    for (const auto& word : std::views::reverse(words)) {  // the parser lists the last one first
      if (!looks_like_option(word)) continue;
      const auto name = word.substr(0, word.find('='));
      fail(ErrorKind::Usage, "[cli.parse] '{}' has no option '{}'.{} See '{} --help'.", help, name,
           option_hint(name, known_options(app)), help);
    }
  }
  check_missing(*innermost(app), error.what(), help);
  fail(ErrorKind::Usage, "[cli.parse] {}. See '{} --help'.", trim(error.what()), help);
}

}  // namespace ubique::cli
