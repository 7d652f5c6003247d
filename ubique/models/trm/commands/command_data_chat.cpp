// SPDX-License-Identifier: Apache-2.0
// `ubique data trm chat`: conversations from JSON files as a data set with its tokenizer.
#include <fmt/format.h>

#include "ubique/base/terminal/table.h"
#include "ubique/data/chat/chat_set.h"
#include "ubique/models/trm/commands/commands.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

/// With fewer conversations nothing is held out by default: the few would be too few to score by,
/// and a small file is usually meant to be learnt completely.
constexpr std::size_t kFewestToSplit = 200;

struct ChatDataSettings {
  data::ChatSetOptions set;
  bool splits = false;  ///< --split was given; else the number of conversations decides
  std::int64_t vocabulary = 4096;
  std::string tokenizer;  ///< empty: one is trained
};

ChatDataSettings read_chat_data_settings(const Config& config) {
  ChatDataSettings settings;
  auto& rows = settings.set.rows;
  settings.set.shorten = !config.has("max_length");
  rows.length = config.get("max_length", rows.length);
  data::validate(rows);
  rows.long_chats = data::parse_long_chats(config.get("long", std::string("windows")));
  rows.loss_on = data::parse_loss_on(config.get("loss_on", std::string("all")));
  settings.splits = config.has("split");
  settings.set.split = config.get("split", settings.set.split);
  settings.set.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  settings.tokenizer = config.get("tokenizer", std::string());
  const auto vocabulary = config.get<std::int64_t>("vocab", 0);
  check(vocabulary == 0 || settings.tokenizer.empty(), ErrorKind::Usage,
        "[trm.data] --vocab and --tokenizer exclude each other: a tokenizer is trained or given.");
  if (vocabulary != 0) settings.vocabulary = vocabulary;
  config.finish();
  return settings;
}

std::string share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

double tokens_per_byte(const data::ChatSetPart& part) {
  return part.characters == 0
             ? 0
             : static_cast<double>(part.text_tokens) / static_cast<double>(part.characters);
}

Json part_json(const data::ChatSetPart& part) {
  return {{"conversations", part.conversations},
          {"rows", part.rows},
          {"tokens", part.tokens},
          {"cut", part.cut},
          {"lost_tokens", part.lost},
          {"tokens_per_byte", tokens_per_byte(part)}};
}

std::vector<std::string> part_row(const std::string& name, const data::ChatSetPart& part) {
  return {name,
          std::to_string(part.conversations),
          std::to_string(part.rows),
          std::to_string(part.tokens),
          share(part.cut, part.conversations),
          fmt::format("{:.3f}", tokens_per_byte(part))};
}

engine::Outcome chat_outcome(const fs::path& folder, const ChatDataSettings& settings,
                             const data::ChatSetReport& report, std::int64_t empty) {
  Table table({"part", "conversations", "rows", "tokens learnt", "cut", "tokens/byte"});
  table.add_row(part_row("train", report.train));
  table.add_row(part_row("test", report.test));
  auto text = table.to_text();
  if (empty > 0) text += fmt::format("{} entries without a turn were left out\n", empty);
  if (report.test.conversations == 0 && !settings.splits) {
    text += "nothing is held out: fewer than 200 conversations (--split 0.9 holds some out)\n";
  }
  text += fmt::format("{} tokens, rows of {} (seed {}), in {}\n", report.vocabulary, report.length,
                      settings.set.seed, folder.string());
  auto json = json_document("trm_chat_data", 1);
  json["folder"] = folder.string();
  json["vocabulary"] = report.vocabulary;
  json["length"] = report.length;
  json["seed"] = settings.set.seed;
  json["empty"] = empty;
  json["train"] = part_json(report.train);
  json["test"] = part_json(report.test);
  return {text, json, ExitCode::Ok};
}

engine::Outcome make_chat_data(const engine::Request& request) {
  auto settings = read_chat_data_settings(request.config);
  check(!request.inputs.empty(), ErrorKind::Usage,
        "[trm.data] no file to read; expected JSON files of conversations.");
  const auto list = io::read_conversations({request.inputs.begin(), request.inputs.end()});
  if (!settings.splits && list.conversations.size() < kFewestToSplit) settings.set.split = 1;
  auto tokenizer = settings.tokenizer.empty()
                       ? data::train_chat_tokenizer(list.conversations, settings.vocabulary)
                       : io::read_tokenizer(settings.tokenizer).model();
  const auto folder = request.output.empty() ? fs::path("chat-data") : request.output;
  const auto report =
      data::write_chat_set(folder, list.conversations, std::move(tokenizer), settings.set);
  return chat_outcome(folder, settings, report, list.empty);
}

}  // namespace

engine::Command data_chat_command() {
  return {
      .verb = "data",
      .name = "chat",
      .summary = "make a data set from conversations (ShareGPT, Alpaca, OpenAssistant)",
      .inputs = "FILE...",
      .needs_device = false,
      .options = {{"--vocab", "vocab", "N", "train a tokenizer with N tokens (4096)"},
                  {"--tokenizer", "tokenizer", "PATH",
                   "use this tokenizer.json, or the folder of one, or of GPT-2's files"},
                  {"--max-length", "max_length", "N",
                   "tokens per row (of the longest conversation, at most 512)"},
                  {"--long", "long", "HOW",
                   "conversations longer than a row: windows of whole turns, or cut (windows)"},
                  {"--loss-on", "loss_on", "WHAT",
                   "tokens with a loss: all, or assistant for its turns only (all)"},
                  {"--split", "split", "SHARE",
                   "share for training, the rest for testing (0.95; 1 below 200 conversations)"},
                  {"--seed", "seed", "N", "the same seed gives the same split (42)"}},
      .examples = {{"ubique data trm chat talks.json -o chat --vocab 2000 --max-length 256",
                    "trains a tokenizer with 2000 tokens and writes it beside the data"},
                   {"ubique data trm chat a.jsonl b.jsonl -o chat --tokenizer gpt2/",
                    "GPT-2's tokenizer with nine more special tokens"}},
      .run = make_chat_data};
}

}  // namespace ubique::trm
