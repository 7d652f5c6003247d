// SPDX-License-Identifier: Apache-2.0
// Chooses the reader by the file's name, walks folders, and encodes conversations.
#include "ubique/data/code/read_sequences.h"

#include <algorithm>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/data/code/sequence_forms.h"
#include "ubique/data/code/tokenizer_hash.h"
#include "ubique/io/text/chat_template.h"
#include "ubique/io/text/jinja_chat.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLongestText = 1LL << 30;  // of one text file that was named

bool looks_binary(std::string_view text) {
  constexpr std::size_t kStart = 1024;
  return text.substr(0, kStart).find('\0') != std::string_view::npos;
}

/// Files below a folder in the order of their names, without hidden ones.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error);
       it != fs::recursive_directory_iterator(); it.increment(error)) {
    check(!error, ErrorKind::Input, "[data.read] cannot list {}; {}.", folder.string(),
          error.message());
    const bool hidden = it->path().filename().string().starts_with('.');
    if (hidden && it->is_directory(error)) it.disable_recursion_pending();
    if (!hidden && it->is_regular_file(error) && !it->is_symlink(error))
      files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void read_text_file(const fs::path& file, SequenceReading& reading) {
  reading.deliver_text(read_file(file, kLongestText), {file.generic_string(), "", "text"});
}

/// Everything in a folder is text: a package.json in it is source, not a data file.
void read_folder(const fs::path& folder, SequenceReading& reading) {
  for (const auto& file : files_below(folder)) {
    ++reading.counts.files;
    std::error_code ignored;
    if (static_cast<std::int64_t>(fs::file_size(file, ignored)) > reading.options.max_file_size) {
      ++reading.counts.skipped["too large"];
    } else if (const auto text = read_file(file); looks_binary(text)) {
      ++reading.counts.skipped["binary"];
    } else {
      reading.deliver_text(text, {file.lexically_relative(folder).generic_string(), "", "text"});
    }
  }
}

void read_path(const fs::path& path, SequenceReading& reading) {
  std::error_code ignored;
  check_readable(path);
  check(fs::exists(path, ignored), ErrorKind::Input, "[data.read] there is no {}.", path.string());
  if (fs::is_directory(path, ignored)) return read_folder(path, reading);
  ++reading.counts.files;
  const auto extension = lowercase(path.extension().string());
  if (extension == ".json" || extension == ".jsonl" || extension == ".ndjson") {
    read_json_sequences(path, reading);
  } else if (extension == ".bin") {
    read_token_shard(path, reading);
  } else {
    check(!looks_binary(read_start(path, 1024)), ErrorKind::Input,
          "[data.read] {} is binary; expected text, JSON (.json, .jsonl) or token ids (.bin).",
          path.string());
    read_text_file(path, reading);
  }
}

std::string role_header(io::Role role) {
  switch (role) {
    case io::Role::System:
      return "System: ";
    case io::Role::User:
      return "Question: ";
    case io::Role::Assistant:
      break;
  }
  return "Answer: ";
}

/// Each assistant turn as a completion of all that precedes it.
template <typename Encode>
std::vector<EncodedDocument> turns_as_documents(const io::Conversation& conversation,
                                                const Encode& encode) {
  std::vector<EncodedDocument> documents;
  for (std::size_t i = 0; i < conversation.turns.size(); ++i) {
    if (conversation.turns[i].role != io::Role::Assistant) continue;
    EncodedDocument document;
    document.ids = encode(std::span(conversation.turns).first(i), conversation.turns[i],
                          document.prompt_length);
    documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace

void SequenceReading::deliver(EncodedDocument&& document) {
  auto& ids = document.ids;
  while (!ids.empty() && ids.back() == end_of_text) ids.pop_back();
  document.prompt_length = std::min(document.prompt_length, static_cast<std::int64_t>(ids.size()));
  if (ids.empty()) {
    ++counts.skipped["empty"];
    return;
  }
  check_token_ids(document, vocabulary);
  ++counts.documents;
  sink(std::move(document));
}

void SequenceReading::deliver_text(std::string_view text, const DocumentInfo& info) {
  if (is_utf8(text)) return deliver({encoder.encode(text), 0, info});
  ++counts.repaired;
  deliver({encoder.encode(replace_invalid_utf8(text)), 0, info});
}

ChatEncoder plain_chat_encoder(const io::Tokenizer& tokenizer) {
  const auto markers = io::ChatMarkers().all();
  const bool has_markers = std::all_of(markers.begin(), markers.end(), [&](const auto& marker) {
    return tokenizer.find(marker).has_value();
  });
  if (has_markers) {
    return [chat = io::MarkerTemplate(tokenizer)](const io::Conversation& conversation) {
      return turns_as_documents(conversation, [&](auto before, const auto& reply, auto& prompt) {
        auto ids = chat.prompt(before);
        prompt = static_cast<std::int64_t>(ids.size());
        const auto turn = chat.turn(reply).ids;  // begins with the marker that ended the prompt
        ids.insert(ids.end(), turn.begin() + 1, turn.end());
        return ids;
      });
    };
  }
  return [&tokenizer](const io::Conversation& conversation) {
    return turns_as_documents(conversation, [&](auto before, const auto& reply, auto& prompt) {
      std::string text;
      for (const auto& turn : before) text += role_header(turn.role) + turn.text + "\n\n";
      text += "Answer:";
      auto ids = tokenizer.encode(text);
      prompt = static_cast<std::int64_t>(ids.size());
      const auto answer = tokenizer.encode(" " + reply.text);
      ids.insert(ids.end(), answer.begin(), answer.end());
      return ids;
    });
  };
}

ChatEncoder folder_chat_encoder(const fs::path& path, const io::Tokenizer& tokenizer) {
  std::error_code ignored;
  const auto folder = fs::is_directory(path, ignored) ? path : path.parent_path();
  if (!io::has_chat_template(folder)) return plain_chat_encoder(tokenizer);
  const std::shared_ptr<const io::ChatTemplate> chat = io::read_chat_template(folder, tokenizer);
  return [chat](const io::Conversation& conversation) {
    const std::span<const io::Turn> turns(conversation.turns);
    std::vector<EncodedDocument> documents;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (turns[i].role != io::Role::Assistant) continue;
      const auto tokens = chat->conversation(turns.first(i + 1));
      // The reply is the last run of the assistant's tokens; what follows it is no one's to learn.
      const auto& mine = tokens.by_assistant;
      auto end = mine.size();
      while (end > 0 && !mine[end - 1]) --end;
      auto first = end;
      while (first > 0 && mine[first - 1]) --first;
      if (first == end) continue;  // an empty reply
      documents.push_back(
          {{tokens.ids.begin(), tokens.ids.begin() + static_cast<std::ptrdiff_t>(end)},
           static_cast<std::int64_t>(first)});
    }
    return documents;
  };
}

ReadCounts read_sequences_into(const std::vector<fs::path>& paths, const io::Tokenizer& tokenizer,
                               std::int64_t vocabulary, const DocumentSink& sink,
                               const ReadOptions& options) {
  SequenceReading reading{tokenizer, vocabulary, end_of_text(tokenizer), TextEncoder(tokenizer),
                          options,   sink};
  if (!reading.options.chat) reading.options.chat = plain_chat_encoder(tokenizer);
  for (const auto& path : paths) read_path(path, reading);
  return reading.counts;
}

CodeDocuments read_sequences(const std::vector<fs::path>& paths, const io::Tokenizer& tokenizer,
                             std::int64_t vocabulary, const ReadOptions& options) {
  CodeDocuments documents(tokenizer, vocabulary);
  const auto counts = read_sequences_into(
      paths, tokenizer, vocabulary, [&](EncodedDocument&& document) { documents.add(document); },
      options);
  check(documents.size() > 0, ErrorKind::Input,
        "[data.read] no document in {} files; {} were empty, binary or too large.", counts.files,
        counts.files);
  return documents;
}

}  // namespace ubique::data
