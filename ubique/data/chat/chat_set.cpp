// SPDX-License-Identifier: Apache-2.0
// Splits conversations, turns them into rows and writes both parts with the tokenizer.
#include "ubique/data/chat/chat_set.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/numbers/random.h"
#include "ubique/io/text/tokenizer_trainer.h"

namespace ubique::data {
namespace {

struct ConversationSplits {
  std::vector<std::int64_t> train, test;
};

/// Neither part is empty, unless the split is 1 or there is only one conversation.
ConversationSplits split_conversations(std::int64_t count, const ChatSetOptions& options) {
  check(options.split > 0 && options.split <= 1, ErrorKind::Usage,
        "[data.chat] --split is the share to learn from; got {}, expected more than 0, at most 1.",
        options.split);
  const auto order = Random(options.seed).permutation(count);
  auto train = static_cast<std::int64_t>(std::floor(static_cast<double>(count) * options.split));
  const auto most = options.split < 1 && count > 1 ? count - 1 : count;
  train = std::clamp<std::int64_t>(train, 1, most);
  ConversationSplits splits{{order.begin(), order.begin() + train},
                            {order.begin() + train, order.end()}};
  // In file order, so that rows are easy to find.
  std::sort(splits.train.begin(), splits.train.end());
  std::sort(splits.test.begin(), splits.test.end());
  return splits;
}

void count_texts(const io::Conversation& conversation, const io::MarkerTemplate& tokens,
                 ChatSetPart& part) {
  for (const auto& turn : conversation.turns) {
    part.characters += static_cast<std::int64_t>(turn.text.size());
    part.text_tokens += static_cast<std::int64_t>(tokens.turn(turn).size()) - 2;
  }
}

/// Row length that fits the longest conversation, rounded up to leave room for slightly longer
/// ones, at most `most`.
std::int64_t length_that_fits(const std::vector<io::Conversation>& conversations,
                              const io::MarkerTemplate& tokens, std::int64_t most) {
  constexpr std::int64_t kStep = 64;
  std::int64_t longest = 0;
  for (const auto& conversation : conversations) {
    if (longest >= most) break;
    const auto size = tokens.turns(conversation.turns, true).size();
    longest = std::max(longest, static_cast<std::int64_t>(size));
  }
  return std::min(most, (longest / kStep + 1) * kStep);
}

/// All rows are held in memory: inputs and labels, four bytes per token.
void check_size(std::size_t conversations, std::int64_t length) {
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;
  check(static_cast<std::int64_t>(conversations) <= kMostTokens / length, ErrorKind::Usage,
        "[data.chat] {} conversations in rows of {} tokens are too much for one set; expected {} "
        "tokens at most. A smaller --max-length, or several sets.",
        conversations, length, kMostTokens);
}

std::string digest_of_texts(const std::vector<io::Conversation>& conversations) {
  std::string all;
  for (const auto& conversation : conversations) {
    for (const auto& turn : conversation.turns) {
      all += digest_of(turn.text);
      all += to_string(turn.role);
    }
    all += '\n';
  }
  return digest_of(all);
}

ChatSetPart write_part(const std::filesystem::path& folder, const std::string& name,
                       const std::vector<io::Conversation>& conversations,
                       const std::vector<std::int64_t>& chosen, const io::MarkerTemplate& tokens,
                       const PuzzleMetadata& metadata, const RowOptions& options) {
  auto set = empty_puzzle_set(metadata);
  set.inputs = set.labels = TokenRows(metadata.seq_len, true);  // i32, for kIgnoredLabel
  ChatSetPart part;
  for (const auto index : chosen) {
    const auto& conversation = conversations[static_cast<std::size_t>(index)];
    const auto made = chat_rows(conversation, tokens, options);
    for (const auto& row : made.rows) {
      add_example(set, row.inputs, row.labels);
      part.tokens += row.tokens;
    }
    end_puzzle(set, 0);  // conversations share the blank puzzle id, as new ones will
    end_group(set);
    part.rows += static_cast<std::int64_t>(made.rows.size());
    part.cut += made.lost > 0 ? 1 : 0;
    part.lost += made.lost;
    ++part.conversations;
    count_texts(conversation, tokens, part);
  }
  write_puzzle_set(folder, name, set);
  return part;
}

}  // namespace

io::TokenizerModel train_chat_tokenizer(const std::vector<io::Conversation>& conversations,
                                        std::int64_t size) {
  io::TokenizerTrainer trainer({.size = size, .special = io::ChatMarkers().all()});
  for (const auto& conversation : conversations) {
    for (const auto& turn : conversation.turns) trainer.add(turn.text);
  }
  return trainer.train();
}

ChatSetReport write_chat_set(const std::filesystem::path& folder,
                             const std::vector<io::Conversation>& conversations,
                             io::TokenizerModel tokenizer, const ChatSetOptions& options) {
  validate(options.rows);
  const auto splits = split_conversations(static_cast<std::int64_t>(conversations.size()), options);
  io::add_special_tokens(tokenizer, io::ChatMarkers().all());
  const io::Tokenizer ready(tokenizer);
  const io::MarkerTemplate tokens(ready);
  auto rows = options.rows;
  if (options.shorten) rows.length = length_that_fits(conversations, tokens, rows.length);
  check_size(conversations.size(), rows.length);

  PuzzleMetadata metadata;
  metadata.pad_id = tokens.pad();
  metadata.ignore_label_id = kIgnoredLabel;
  metadata.vocab_size = ready.size();
  metadata.seq_len = rows.length;
  metadata.provenance = {{"kind", "chat"},
                         {"texts", digest_of_texts(conversations)},
                         {"vocabulary", ready.size()},
                         {"length", rows.length},
                         {"long", to_string(rows.long_chats)},
                         {"loss_on", to_string(rows.loss_on)},
                         {"split", options.split},
                         {"seed", options.seed}};
  claim_puzzle_folder(folder, metadata.provenance);

  make_folder(folder / "tokenizer");
  io::write_tokenizer(folder / "tokenizer" / "tokenizer.json", tokenizer);
  write_identifiers(folder, {"<blank>"});
  ChatSetReport report;
  report.vocabulary = ready.size();
  report.length = rows.length;
  report.train = write_part(folder, "train", conversations, splits.train, tokens, metadata, rows);
  if (!splits.test.empty()) {
    report.test = write_part(folder, "test", conversations, splits.test, tokens, metadata, rows);
  }
  return report;
}

bool is_chat_set(const PuzzleMetadata& metadata) {
  const auto& provenance = metadata.provenance;
  return provenance.is_object() && provenance.value("kind", Json()) == "chat";
}

void copy_chat_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& target) {
  const auto source = folder / "tokenizer" / "tokenizer.json";
  const auto copy = target / "tokenizer" / "tokenizer.json";
  std::error_code ignored;
  if (!std::filesystem::exists(source, ignored) || std::filesystem::exists(copy, ignored)) return;
  make_folder(copy.parent_path());
  write_file(copy, read_file(source));
}

}  // namespace ubique::data
