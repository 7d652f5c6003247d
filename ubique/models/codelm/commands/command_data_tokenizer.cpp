// SPDX-License-Identifier: Apache-2.0
// `ubique data codelm tokenizer`: trains a tokenizer with StarCoder's special tokens.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/files/output_path.h"
#include "ubique/data/code/read_sequences.h"
#include "ubique/data/code/tokenizer_hash.h"
#include "ubique/io/text/tokenizer_trainer.h"
#include "ubique/models/codelm/commands/data_commands.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

/// In StarCoder's order: ids 0 to 18.
std::vector<std::string> starcoder_special_tokens() {
  return {"<|endoftext|>",   "<fim_prefix>",     "<fim_middle>",    "<fim_suffix>",
          "<fim_pad>",       "<filename>",       "<gh_stars>",      "<issue_start>",
          "<issue_comment>", "<issue_closed>",   "<jupyter_start>", "<jupyter_text>",
          "<jupyter_code>",  "<jupyter_output>", "<empty_output>",  "<commit_before>",
          "<commit_msg>",    "<commit_after>",   "<reponame>"};
}

engine::Outcome train_tokenizer(const engine::Request& request) {
  const auto& config = request.config;
  const auto size = config.get<std::int64_t>("size", 49152);
  const auto min_count = config.get<std::int64_t>("min_count", 2);
  config.finish();
  check(!request.inputs.empty(), ErrorKind::Usage,
        "[codelm.data] no file to read; expected texts, folders or JSON lines.");
  const auto path = request.output.empty() ? fs::path("tokenizer.json") : request.output;
  check_output_file(path);
  io::TokenizerTrainer trainer({.size = size,
                                .special = starcoder_special_tokens(),
                                .min_count = min_count,
                                .split = {io::SplitStep::EachNumber, io::SplitStep::Words}});
  // The readers give tokens: one per byte here, so that texts come back as they were.
  io::TokenizerTrainer bytes({.size = 257, .special = {"<|endoftext|>"}});
  const io::Tokenizer byte_tokenizer(bytes.train());
  std::int64_t text_bytes = 0;
  data::ReadCounts counts;
  const bool done = run_with_progress(request, "documents", 0, [&](const auto& count) {
    const auto take = [&](data::EncodedDocument&& document) {
      std::string text;
      for (const auto id : document.ids) text += byte_tokenizer.bytes(id);
      text_bytes += static_cast<std::int64_t>(text.size());
      trainer.add(text);
      count();
    };
    counts = data::read_sequences_into({request.inputs.begin(), request.inputs.end()},
                                       byte_tokenizer, byte_tokenizer.size(), take);
  });
  if (!done) return stopped_outcome("codelm_tokenizer");
  check(counts.documents > 0, ErrorKind::Input, "[codelm.data] no text in {} files.", counts.files);
  const io::Tokenizer trained(trainer.train());
  io::write_tokenizer(path, trained.model());
  auto json = json_document("codelm_tokenizer", 1);
  json["path"] = path.string();
  json["size"] = trained.size();
  json["hash"] = data::tokenizer_hash(trained);
  json["documents"] = counts.documents;
  json["bytes"] = text_bytes;
  json["skipped"] = counts.skipped;
  auto text = fmt::format("{} tokens from {} documents ({} bytes), in {}\n", trained.size(),
                          counts.documents, text_bytes, path.string());
  if (trained.size() < size) {
    text +=
        fmt::format("fewer than {}: no pair of tokens occurs {} times any more\n", size, min_count);
  }
  return {text, json, ExitCode::Ok};
}

}  // namespace

engine::Command data_tokenizer_command() {
  return {.verb = "data",
          .name = "tokenizer",
          .summary = "train a byte-level BPE tokenizer with StarCoder's special tokens",
          .inputs = "FILE...",
          .needs_device = false,
          .options = {{"--size", "size", "N", "vocabulary size, special tokens included (49152)"},
                      {"--min-count", "min_count", "N", "pairs that are rarer do not merge (2)"}},
          .examples = {{"ubique data codelm tokenizer src/ -o tokenizer.json --size 8192",
                        "from the text files below a folder"}},
          .run = train_tokenizer};
}

}  // namespace ubique::codelm
