// SPDX-License-Identifier: Apache-2.0
// What families offer, and the verbs without a family that make sense as jobs.
#include "ubique/cli/serve/command_rows.h"

#include <chrono>
#include <map>
#include <mutex>

#include "ubique/cli/family_verb.h"
#include "ubique/cli/wish_options.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/hub/http.h"

namespace ubique::cli {
namespace {

constexpr auto kCopyTime = std::chrono::minutes(10);

struct KnownModel {
  std::filesystem::file_time_type changed;
  std::string family;
};

serve::OptionRow option_row(const engine::Option& option) {
  return {option.flag, option.key, option.type, option.help, option.group};
}

serve::CommandRow family_row(const engine::Family& family, const engine::Command& command,
                             const std::string& verb) {
  serve::CommandRow row{.verb = verb,
                        .family = family.name(),
                        .name = command.name,
                        .summary = command.summary,
                        .inputs = command.inputs,
                        .needs_model = command.needs_model,
                        .needs_device = command.needs_device,
                        .options = {}};
  for (const auto& option : command.options) row.options.push_back(option_row(option));
  if (!command.needs_device) return row;
  for (const auto& option : wish_option_rows()) {
    if (row.find(option.key) == nullptr) row.options.push_back(option_row(option));
  }
  return row;
}

serve::CommandRow doctor_row() {
  return {.verb = "doctor",
          .family = "",
          .name = "",
          .summary = "prove with numbers what the device computes right",
          .inputs = "",
          .needs_model = false,
          .needs_device = true,
          .options = {{"--only", "only", "GLOB", "only these ops or patterns", ""},
                      {"--refresh", "refresh", "", "run every probe again", ""},
                      option_row(wish_option_rows().front())}};
}

serve::CommandRow pull_row() {
  return {.verb = "pull",
          .family = "",
          .name = "",
          .summary = "download a model from Hugging Face's hub",
          .inputs = "MODEL",
          .needs_model = false,
          .needs_device = false,
          .options = {{"--include", "include", "GLOB", "only files whose name matches", ""},
                      {"--exclude", "exclude", "GLOB", "without files that match", ""},
                      {"--connections", "connections", "N", "at once (8)", ""}}};
}

std::string recognized_family(const std::filesystem::path& path) {
  try {
    const auto best = engine::model_path(path);
    if (engine::is_checkpoint(best)) return engine::family_of(best);
  } catch (const Error&) {  // none of ours
  }
  for (const auto* family : engine::families()) {
    try {
      if (family->recognizes(path)) return family->name();
    } catch (const Error&) {  // not readable as that
    }
  }
  return {};
}

}  // namespace

std::string family_of_model(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, KnownModel> known;  // lists are asked for again and again
  std::error_code ignored;
  const auto changed = std::filesystem::last_write_time(path, ignored);
  const auto age = std::filesystem::file_time_type::clock::now() - changed;
  const std::lock_guard lock(mutex);
  const auto found = known.find(path);
  if (found != known.end() && found->second.changed == changed) {
    // What is none now may be one when all of it has been copied.
    const bool may_become_one = found->second.family.empty() && age < kCopyTime;
    if (!may_become_one) return found->second.family;
  }
  return (known[path] = {changed, recognized_family(path)}).family;
}

std::vector<serve::CommandRow> command_rows() {
  std::vector<serve::CommandRow> rows;
  for (const auto& verb : verbs()) {
    if (!verb.rows) continue;
    for (const auto* family : engine::families()) {
      for (const auto& command : verb.rows(*family, verb.name)) {
        rows.push_back(family_row(*family, command, verb.name));
      }
    }
  }
  rows.push_back(doctor_row());
  if (io::has_http()) rows.push_back(pull_row());
  return rows;
}

}  // namespace ubique::cli
