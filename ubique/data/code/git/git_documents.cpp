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

std::string plain_commit(const Commit& commit, std::span<const FileChange* const> changes) {
  auto text = "commit " + commit.hash + "\n\n" + commit.message + "\n";
  for (const auto* each : changes) {
    const auto& change = *each;
    const auto& old_path = change.type == ChangeType::Rename ? change.old_path : change.path;
    text += "\n--- " + (change.type == ChangeType::Add ? "/dev/null" : "a/" + old_path);
    text += "\n+++ " + (change.type == ChangeType::Delete ? "/dev/null" : "b/" + change.path);
    text += "\n" + change.hunks;
  }
  return text;
}

/// Its texts will say whether a secret may be in it.
EncodedDocument new_document(std::string path, std::string commit, std::string kind) {
  return {.info = {std::move(path), std::move(commit), std::move(kind)}, .no_secret = true};
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
  const bool whole = is_utf8(text);
  if (!whole) report.change("broken_utf8", document.info);
  const bool no_secret = whole ? encoder_.encode(text, document.ids)
                               : encoder_.encode(replace_invalid_utf8(text), document.ids);
  document.no_secret = document.no_secret && no_secret;
}

/// <filename>path<commit_before>code<commit_msg>message<commit_after>code
EncodedDocument GitDocuments::file_change(const Commit& commit, const FileChange& change,
                                          DropReport& report) {
  auto document = new_document(change.path, commit.hash, "commit");
  document.ids.reserve(change.hunks.size() / 2);  // tokens have more bytes than two
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
EncodedDocument GitDocuments::pull_request(const Commit& commit, const Changes& changes,
                                           DropReport& report) {
  auto document = new_document(changes.front()->path, commit.hash, "commit");
  const auto token = [&](std::int32_t id) { document.ids.push_back(id); };
  token(starcoder2_->pr);
  add_text(document, "Title: " + commit.message + "\n", report);
  token(starcoder2_->repository);
  add_text(document, options_.repository + "\n", report);
  token(starcoder2_->base);
  for (const auto* each : changes) {
    const auto& change = *each;
    if (change.type == ChangeType::Add) continue;
    token(starcoder2_->file);
    add_text(document, (change.old_path.empty() ? change.path : change.old_path) + "\n", report);
    token(starcoder2_->base_code);
    add_text(document, hunk_side(change.hunks, false), report);
  }
  token(starcoder2_->diff);
  for (const auto* change : changes) {
    token(starcoder2_->file);
    add_text(document, change->path + "\n", report);
    std::string_view rest = change->hunks;
    while (!rest.empty()) {
      const auto next = std::min(rest.find("\n@@ "), rest.size() - 1) + 1;
      token(starcoder2_->hunk);
      add_text(document, rest.substr(0, next), report);
      rest.remove_prefix(next);
    }
  }
  return document;
}

GitDocuments::Changes GitDocuments::useful_changes(const Commit& commit, DropReport& report) {
  Changes useful;
  for (const auto& change : commit.changes) {
    if (change.type == ChangeType::Delete) {
      report.drop("deleted_file", {change.path, commit.hash, ""});
    } else if (change.hunks.empty()) {
      report.drop("no_content_change", {change.path, commit.hash, ""});
    } else {
      useful.push_back(&change);
    }
  }
  return useful;
}

std::vector<EncodedDocument> GitDocuments::commit(const Commit& commit, DropReport& report) {
  std::vector<EncodedDocument> documents;
  const auto add_whole = [&](const std::string& path, const std::string& text) {
    documents.push_back(new_document(path, commit.hash, "commit"));
    add_text(documents.back(), text, report);
  };
  if (options_.commit == DocumentForm::Seed) {
    add_whole(commit.changes.empty() ? "" : commit.changes.front().path, seed_commit(commit));
    return documents;
  }
  const auto changes = useful_changes(commit, report);
  if (changes.empty()) {
    if (commit.parents.size() > 1) report.drop("merge", {"", commit.hash, ""});
  } else if (options_.commit == DocumentForm::Special && starcoder_) {
    for (const auto* change : changes) documents.push_back(file_change(commit, *change, report));
  } else if (options_.commit == DocumentForm::Special && starcoder2_) {
    documents.push_back(pull_request(commit, changes, report));
  } else {
    add_whole(changes.front()->path, plain_commit(commit, changes));
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
  auto document = new_document(info.path, info.commit, info.kind);
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
    documents.push_back(new_document(file.path, options_.head, "file"));
    add_text(documents.back(), text, report);
  }
  return documents;
}

}  // namespace ubique::data
