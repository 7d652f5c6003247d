// SPDX-License-Identifier: Apache-2.0
// Commits and files as token documents: with the tokenizer's own special tokens (StarCoder's or
// StarCoder2's), as plain text, or in the text form of the original git-starcoder scripts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ubique/data/code/git/git_history.h"
#include "ubique/data/code/git/line_encoder.h"

namespace ubique::data {

enum class DocumentForm {
  Special,  ///< special tokens where the tokenizer has them, else plain
  Seed,     ///< <COMMIT> ... </COMMIT> and <FILE> ... </CODE> as text
  Plain,    ///< headers as text
};
DocumentForm parse_document_form(std::string_view text);
std::string_view to_string(DocumentForm form);

struct GitFormOptions {
  DocumentForm commit = DocumentForm::Special, snapshot = DocumentForm::Special;
  bool seed_diffs = false;  ///< seed form of commits: with their patches
  std::string repository;   ///< its name
  std::string branch;       ///< seed form
  std::string head;         ///< seed form of files: the commit they are of
};

class GitDocuments {
 public:
  /// The encoder must outlive this.
  GitDocuments(GitFormOptions options, TextEncoder& encoder);

  /// The documents of one commit: one per file with StarCoder's tokens, else one in all. Files that
  /// give none (deleted, only renamed) are counted.
  std::vector<EncodedDocument> commit(const Commit& commit, DropReport& report);
  /// The documents of one file: one, or in the seed's form one per 200 lines.
  std::vector<EncodedDocument> file(const SnapshotFile& file, DropReport& report);
  /// "starcoder", "starcoder2" or "plain": what Special means for this tokenizer.
  std::string_view special_name() const;

 private:
  /// Ids of the special tokens; nothing if the tokenizer lacks one of a set.
  struct StarCoder {
    std::int32_t filename, before, message, after;
  };
  struct StarCoder2 {
    std::int32_t repository, pr, base, file, base_code, diff, hunk;
  };

  /// The changes of a commit that give a text.
  using Changes = std::vector<const FileChange*>;

  static Changes useful_changes(const Commit& commit, DropReport& report);
  void add_text(EncodedDocument& document, std::string_view text, DropReport& report);
  EncodedDocument file_change(const Commit& commit, const FileChange& change, DropReport& report);
  EncodedDocument pull_request(const Commit& commit, const Changes& changes, DropReport& report);
  std::string seed_commit(const Commit& commit);
  std::vector<EncodedDocument> seed_file(const SnapshotFile& file, DropReport& report);

  GitFormOptions options_;
  LineEncoder encoder_;
  std::optional<StarCoder> starcoder_;
  std::optional<StarCoder2> starcoder2_;
  std::optional<std::int32_t> repository_token_, file_token_;
  std::unordered_map<std::string, std::int64_t> author_times_;  // of commits, for the seed's form
};

}  // namespace ubique::data
