// SPDX-License-Identifier: Apache-2.0
// `ubique data codelm import`: texts, token lists, prompts, conversations and shards as a data set.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/code/code_set_writer.h"
#include "ubique/data/code/read_sequences.h"
#include "ubique/models/codelm/commands/data_commands.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

/// What people prepared themselves is changed as little as possible.
data::FilterOptions import_defaults() {
  data::FilterOptions options;
  options.near_duplicates = 2;
  options.least_tokens = 1;
  return options;
}

engine::Outcome import_outcome(const fs::path& folder, const data::CodeSetHeader& header,
                               const data::ReadCounts& counts, const data::DropReport& report) {
  auto text = data::code_set_summary(header);
  text += fmt::format("{} files with {} documents read\n", counts.files, counts.documents);
  for (const auto& [reason, count] : counts.skipped) {
    text += fmt::format("skipped: {} ({})\n", count, reason);
  }
  if (counts.repaired > 0) {
    text += fmt::format("broken UTF-8 replaced in {} documents\n", counts.repaired);
  }
  if (report.dropped() > 0) text += "\n" + report.text();
  text += fmt::format("\nin {}\n", folder.string());
  auto json = json_document("codelm_import_data", 1);
  json["folder"] = folder.string();
  json["files"] = counts.files;
  json["documents_read"] = counts.documents;
  json["repaired_utf8"] = counts.repaired;
  json["skipped"] = counts.skipped;
  for (const auto* name : {data::kTrainSplit, data::kValSplit}) {
    json[name] = {{"documents", header.split(name).documents},
                  {"tokens", header.split(name).tokens}};
  }
  json.update(report.json());
  return {text, json, ExitCode::Ok};
}

void write_import_report(const fs::path& folder, const engine::Outcome& outcome) {
  write_file(folder / "report.json", json_text(outcome.json, 2) + "\n");
  write_file(folder / "report.txt", outcome.text);
}

engine::Outcome import_data(const engine::Request& request) {
  const auto& config = request.config;
  const auto filter_settings = read_filter_options(config, import_defaults());
  const auto tokenizer_path = config.require<std::string>("tokenizer");
  const auto vocabulary_given = config.get<std::int64_t>("vocab", 0);
  data::ReadOptions read;
  read.max_file_size = config.get_bytes("max_file_size", read.max_file_size);
  config.finish();
  check(!request.inputs.empty(), ErrorKind::Usage,
        "[codelm.data] no file to read; expected files or folders.");
  const auto tokenizer = io::read_tokenizer(tokenizer_path);
  const auto vocabulary = vocabulary_given == 0 ? tokenizer.size() : vocabulary_given;
  const auto folder = request.output.empty() ? fs::path("code-data") : request.output;
  read.chat = data::folder_chat_encoder(tokenizer_path, tokenizer);
  data::TextEncoder encoder(tokenizer);
  data::DropReport report;
  data::DocumentFilter filter(filter_settings, encoder, report);
  data::CodeSetWriter writer(folder, tokenizer, vocabulary);
  data::ReadCounts counts;
  const bool done = run_with_progress(request, "documents", 0, [&](const auto& count) {
    const auto take = [&](data::EncodedDocument&& document) {
      std::vector<data::EncodedDocument> unit;
      unit.push_back(std::move(document));
      for (const auto& placed : filter.place(std::move(unit))) {
        writer.add(placed.val ? data::kValSplit : data::kTrainSplit, placed.document);
      }
      count();
    };
    counts = data::read_sequences_into({request.inputs.begin(), request.inputs.end()}, tokenizer,
                                       vocabulary, take, read);
  });
  if (!done) return stopped_outcome("codelm_import_data");
  auto& header = writer.header();
  check(header.train.documents > 0, ErrorKind::Input,
        "[codelm.data] no document is left for training; {} were read, {} dropped.",
        counts.documents, report.dropped());
  header.source = {{"kind", "import"}, {"files", request.inputs}};
  header.options = {{"filter", to_json(filter_settings)}, {"max_file_size", read.max_file_size}};
  header.dropped = report.counts();
  writer.finish();
  auto outcome = import_outcome(folder, header, counts, report);
  write_import_report(folder, outcome);
  return outcome;
}

}  // namespace

engine::Command data_import_command() {
  const std::vector<engine::Option> own = {
      {"--tokenizer", "tokenizer", "PATH", "a tokenizer.json, or the folder of a model"},
      {"--vocab", "vocab", "N", "the model's vocabulary, if larger than the tokenizer's"},
      {"--max-file-size", "max_file_size", "SIZE", "skip larger files in folders (2 MB)"}};
  return {.verb = "data",
          .name = "import",
          .summary = "make a data set from texts, token lists, prompts, chats or token shards",
          .inputs = "FILE...",
          .needs_device = false,
          .options = engine::all_options({own, filter_options(import_defaults())}),
          .examples = {{"ubique data codelm import token_sequences.json -o data --tokenizer model/",
                        "token lists of other programs; ids of another tokenizer are refused"},
                       {"ubique data codelm import train.jsonl src/ -o data --tokenizer model/",
                        "lines with text, prompt and completion, or messages; and a folder"}},
          .run = import_data};
}

}  // namespace ubique::codelm
