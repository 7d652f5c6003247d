// SPDX-License-Identifier: Apache-2.0
// The document forms with special tokens and as plain text.
#include "ubique/data/code/git/git_documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/names.h"
#include "ubique/base/text/utf8.h"
#include "ubique/data/code/git/seed_forms.h"

namespace ubique::data {
namespace {

constexpr NameTable<DocumentForm, 3> kDocumentForms = {{{DocumentForm::Special, "special"},
                                                        {DocumentForm::Seed, "seed"},
                                                        {DocumentForm::Plain, "plain"}}};

std::string plain_commit(const Commit& commit) {
  auto text = "commit " + commit.hash + "\n\n" + commit.message + "\n";
  for (const auto& change : commit.changes) {
    const auto& old_path = change.type == ChangeType::Rename ? change.old_path : change.path;
    text += "\n--- " + (change.type == ChangeType::Add ? "/dev/null" : "a/" + old_path);
    text += "\n+++ " + (change.type == ChangeType::Delete ? "/dev/null" : "b/" + change.path);
    text += "\n" + change.hunks;
  }
  return text;
}

}  // namespace

DocumentForm parse_document_form(std::string_view text) {
  return parse_name(kDocumentForms, "data.git", "form of documents", text);
}

std::string_view to_string(DocumentForm form) { return name_of(kDocumentForms, form); }

GitDocuments::GitDocuments(GitFormOptions options, TextEncoder& encoder)
    : options_(std::move(options)), encoder_(encoder) {
  const auto& tokenizer = encoder.tokenizer();
  const auto find = [&](const char* name) { return tokenizer.find(name); };
  const auto filename = find("<filename>"), before = find("<commit_before>"),
             message = find("<commit_msg>"), after = find("<commit_after>");
  if (filename && before && message && after) {
    starcoder_ = StarCoder{*filename, *before, *message, *after};
  }
  const auto repository = find("<repo_name>"), pr = find("<pr>"), base = find("<pr_base>"),
             file = find("<pr_file>"), code = find("<pr_base_code>"), diff = find("<pr_diff>"),
             hunk = find("<pr_diff_hunk>");
  if (repository && pr && base && file && code && diff && hunk) {
    starcoder2_ = StarCoder2{*repository, *pr, *base, *file, *code, *diff, *hunk};
  }
  repository_token_ = find("<reponame>") ? find("<reponame>") : repository;
  file_token_ = filename ? filename : find("<file_sep>");
}

std::string_view GitDocuments::special_name() const {
  return starcoder_ ? "starcoder" : starcoder2_ ? "starcoder2" : "plain";
}

void GitDocuments::add_text(EncodedDocument& document, std::string_view text, DropReport& report) {
  if (is_utf8(text)) return encoder_.encode(text, document.ids);
  report.change("broken_utf8", document.info);
  encoder_.encode(replace_invalid_utf8(text), document.ids);
}

/// <filename>path<commit_before>code<commit_msg>message<commit_after>code
EncodedDocument GitDocuments::file_change(const Commit& commit, const FileChange& change,
                                          DropReport& report) {
  EncodedDocument document;
  document.info = {change.path, commit.hash, "commit"};
  document.ids.push_back(starcoder_->filename);
  add_text(document, change.path, report);
  document.ids.push_back(starcoder_->before);
  if (change.type != ChangeType::Add) {
    add_text(document, hunk_side(change.hunks, false), report);
  }
  document.ids.push_back(starcoder_->message);
  add_text(document, commit.message, report);
  document.ids.push_back(starcoder_->after);
  add_text(document, hunk_side(change.hunks, true), report);
  return document;
}

/// <pr>Title: subject, body<repo_name>name<pr_base>, each <pr_file>path<pr_base_code>code,
/// <pr_diff>, each <pr_file>path<pr_diff_hunk>hunk.
EncodedDocument GitDocuments::pull_request(const Commit& commit, DropReport& report) {
  EncodedDocument document;
  document.info = {commit.changes.front().path, commit.hash, "commit"};
  const auto token = [&](std::int32_t id) { document.ids.push_back(id); };
  token(starcoder2_->pr);
  add_text(document, "Title: " + commit.message + "\n", report);
  token(starcoder2_->repository);
  add_text(document, options_.repository + "\n", report);
  token(starcoder2_->base);
  for (const auto& change : commit.changes) {
    if (change.type == ChangeType::Add) continue;
    token(starcoder2_->file);
    add_text(document, (change.old_path.empty() ? change.path : change.old_path) + "\n", report);
    token(starcoder2_->base_code);
    add_text(document, hunk_side(change.hunks, false), report);
  }
  token(starcoder2_->diff);
  for (const auto& change : commit.changes) {
    token(starcoder2_->file);
    add_text(document, change.path + "\n", report);
    std::string_view rest = change.hunks;
    while (!rest.empty()) {
      const auto next = std::min(rest.find("\n@@ "), rest.size() - 1) + 1;
      token(starcoder2_->hunk);
      add_text(document, rest.substr(0, next), report);
      rest.remove_prefix(next);
    }
  }
  return document;
}

std::vector<EncodedDocument> GitDocuments::commit(const Commit& commit, DropReport& report) {
  std::vector<EncodedDocument> documents;
  if (options_.commit == DocumentForm::Seed) {
    EncodedDocument document;
    document.info = {commit.changes.empty() ? "" : commit.changes.front().path, commit.hash,
                     "commit"};
    add_text(document, seed_commit(commit), report);
    documents.push_back(std::move(document));
    return documents;
  }
  auto useful = commit;
  std::erase_if(useful.changes, [&](const FileChange& change) {
    const bool deleted = change.type == ChangeType::Delete;
    if (deleted) report.drop("deleted_file", {change.path, commit.hash, ""});
    if (!deleted && change.hunks.empty()) {
      report.drop("no_content_change", {change.path, commit.hash, ""});
    }
    return deleted || change.hunks.empty();
  });
  if (useful.changes.empty()) {
    if (commit.parents.size() > 1) report.drop("merge", {"", commit.hash, ""});
    return documents;
  }
  if (options_.commit == DocumentForm::Special && starcoder_) {
    for (const auto& change : useful.changes) {
      documents.push_back(file_change(commit, change, report));
    }
  } else if (options_.commit == DocumentForm::Special && starcoder2_) {
    documents.push_back(pull_request(useful, report));
  } else {
    EncodedDocument document;
    document.info = {useful.changes.front().path, commit.hash, "commit"};
    add_text(document, plain_commit(useful), report);
    documents.push_back(std::move(document));
  }
  return documents;
}

std::vector<EncodedDocument> GitDocuments::file(const SnapshotFile& file, DropReport& report) {
  const DocumentInfo info{file.path, options_.head, "file"};
  if (const auto reason = content_refusal(file.text); !reason.empty()) {
    report.drop(reason, info);
    return {};
  }
  if (options_.snapshot == DocumentForm::Seed) return seed_file(file, report);
  EncodedDocument document;
  document.info = info;
  if (options_.snapshot == DocumentForm::Special && file_token_) {
    if (repository_token_) {
      document.ids.push_back(*repository_token_);
      add_text(document, options_.repository, report);
    }
    document.ids.push_back(*file_token_);
    add_text(document, file.path + "\n", report);
  } else {
    add_text(document, fmt::format("File: {}\n\n", file.path), report);
  }
  add_text(document, file.text, report);
  std::vector<EncodedDocument> documents;
  documents.push_back(std::move(document));
  return documents;
}

std::string GitDocuments::seed_commit(const Commit& commit) {
  std::int64_t since_parent = 0;
  if (!commit.parents.empty()) {
    const auto parent = author_times_.find(commit.parents.front());
    if (parent != author_times_.end()) since_parent = commit.author_time - parent->second;
  }
  author_times_[commit.hash] = commit.author_time;
  return seed_commit_text(commit, {options_.branch, since_parent, options_.seed_diffs});
}

std::vector<EncodedDocument> GitDocuments::seed_file(const SnapshotFile& file, DropReport& report) {
  std::vector<EncodedDocument> documents;
  for (const auto& text : seed_file_texts(file, options_.branch, options_.head)) {
    EncodedDocument document;
    document.info = {file.path, options_.head, "file"};
    add_text(document, text, report);
    documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace ubique::data
