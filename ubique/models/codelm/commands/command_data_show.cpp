// SPDX-License-Identifier: Apache-2.0
// `ubique data codelm show`: what a data folder holds, with some of its documents.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/data/code/code_set_writer.h"
#include "ubique/models/codelm/commands/data_commands.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

/// The text of tokens, special ones between double angle brackets: typed text cannot pass for them.
std::string visible_text(const io::Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                         std::int64_t prompt) {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (prompt > 0 && static_cast<std::int64_t>(i) == prompt) text += "«end of prompt»";
    const bool special = tokenizer.is_special(ids[i]);
    text += special ? "«" + tokenizer.spelling(ids[i]) + "»" : tokenizer.bytes(ids[i]);
  }
  return replace_invalid_utf8(text);
}

engine::Outcome show_data(const engine::Request& request) {
  const auto& config = request.config;
  const auto count = config.get<std::int64_t>("count", 3);
  const auto first = config.get<std::int64_t>("first", 0);
  const auto most = config.get<std::int64_t>("tokens", 400);
  const auto split = config.get("split", std::string(data::kTrainSplit));
  config.finish();
  check(request.inputs.size() == 1, ErrorKind::Usage, "[codelm.data] got {} folders, expected one.",
        request.inputs.size());
  check(count >= 0 && first >= 0 && most > 0, ErrorKind::Usage,
        "[codelm.data] --count, --first and --tokens count from 0; got {}, {}, {}.", count, first,
        most);
  const fs::path folder = request.inputs.front();
  const data::CodeSet set(folder, split);
  const auto tokenizer = io::read_tokenizer(folder / "tokenizer");
  auto text = data::code_set_summary(set.header());
  auto json = json_document("codelm_data", 1);
  json["folder"] = folder.string();
  json["split"] = split;
  json["vocabulary"] = set.vocabulary();
  json["tokenizer_hash"] = set.tokenizer_hash();
  json["fingerprint"] = set.fingerprint();
  json["size"] = set.size();
  json["tokens"] = set.tokens();
  json["source"] = set.header().source;
  json["documents"] = Json::array();
  const auto end = std::min(set.size(), first + std::min(count, set.size()));
  for (auto i = first; i < end; ++i) {
    const auto info = set.info(i);
    const auto length = set.length(i);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(std::min(length, most)));
    set.read(i, 0, ids);
    const auto shown = visible_text(tokenizer, ids, set.prompt_length(i));
    text += fmt::format("\n--- {} {} of {}: {} {}{}, {} tokens ---\n{}{}\n", split, i, set.size(),
                        printable(info.kind), printable(info.path),
                        info.commit.empty() ? "" : " @ " + printable(info.commit, 12), length,
                        printable_lines(shown), length > most ? "\n..." : "«end of text»");
    json["documents"].push_back({{"index", i},
                                 {"path", info.path},
                                 {"commit", info.commit},
                                 {"kind", info.kind},
                                 {"tokens", length},
                                 {"prompt_length", set.prompt_length(i)},
                                 {"text", shown}});
  }
  return {text, json, ExitCode::Ok};
}

}  // namespace

engine::Command data_show_command() {
  return {.verb = "data",
          .name = "show",
          .summary = "print documents of a data folder with their boundaries and special tokens",
          .inputs = "FOLDER",
          .needs_device = false,
          .options = {{"--count", "count", "N", "documents to print (3)"},
                      {"--first", "first", "N", "number of the first one (0)"},
                      {"--split", "split", "NAME", "train or val (train)"},
                      {"--tokens", "tokens", "N", "print at most so many of each (400)"}},
          .examples = {{"ubique data codelm show data --count 5 --split val",
                        "five of the documents that are held out"}},
          .run = show_data};
}

}  // namespace ubique::codelm
