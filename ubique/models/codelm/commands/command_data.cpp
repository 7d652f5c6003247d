// SPDX-License-Identifier: Apache-2.0
// What the commands of `ubique data codelm` share: the list, filter options, progress.
#include <fmt/format.h>

#include <iostream>

#include "ubique/models/codelm/commands/data_commands.h"

namespace ubique::codelm {
namespace {

/// Thrown out of the work to stop it; nothing has been written by then.
struct DataStopped {};

}  // namespace

std::vector<engine::Command> data_commands() {
  return {data_git_command(), data_import_command(), data_show_command(), data_tokenizer_command()};
}

std::vector<engine::Option> filter_options(const data::FilterOptions& defaults) {
  return {{"--val-share", "val_share", "SHARE",
           fmt::format("share of whole commits and files held out ({})", defaults.val_share)},
          {"--seed", "seed", "N", "the same seed gives the same split (42)"},
          {"--near-duplicates", "near_duplicates", "SHARE",
           fmt::format("drop documents that share so many five-token runs with an earlier one; 2 "
                       "keeps all ({})",
                       defaults.near_duplicates)},
          {"--same-side", "same_side", "SHARE",
           fmt::format("documents this similar go to the same split ({})", defaults.same_side)},
          {"--exact,!--no-exact", "exact", "", "drop documents with the same tokens (on)"},
          {"--secrets", "secrets", "HOW",
           fmt::format("keys, tokens and passwords: replace, drop the document, or keep ({})",
                       to_string(defaults.secrets))},
          {"--least-tokens", "least_tokens", "N",
           fmt::format("drop shorter documents ({})", defaults.least_tokens)}};
}

data::FilterOptions read_filter_options(const Config& config, data::FilterOptions defaults) {
  auto options = defaults;
  options.val_share = config.get("val_share", options.val_share);
  options.seed =
      static_cast<std::uint64_t>(config.get("seed", static_cast<std::int64_t>(options.seed)));
  options.near_duplicates = config.get("near_duplicates", options.near_duplicates);
  options.same_side = config.get("same_side", options.same_side);
  options.exact = config.get("exact", options.exact);
  options.secrets =
      data::parse_secrets_mode(config.get("secrets", std::string(to_string(options.secrets))));
  options.least_tokens = config.get("least_tokens", options.least_tokens);
  data::validate(options);
  return options;
}

bool run_with_progress(const engine::Request& request, const std::string& title, std::int64_t total,
                       const std::function<void(const std::function<void()>&)>& work) {
  Progress progress({.title = title, .total = total, .unit = title, .style = request.progress},
                    std::cerr);
  constexpr std::int64_t kEvery = 64;  // the clock is not read for each small document
  std::int64_t done = 0;
  try {
    work([&] {
      if (++done % kEvery == 0) progress.advance(kEvery);
      if (request.stop_requested && request.stop_requested()) throw DataStopped();
    });
    progress.advance(done % kEvery);
    progress.finish();
    return true;
  } catch (const DataStopped&) {
    return false;
  }
}

engine::Outcome stopped_outcome(const std::string& schema) {
  return {"stopped; the data are as they were before\n", json_document(schema, 1),
          ExitCode::Interrupted};
}

}  // namespace ubique::codelm
