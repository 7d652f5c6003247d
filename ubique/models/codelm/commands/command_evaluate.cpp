// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate codelm`: loss, perplexity and accuracy on documents.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/data/code/code_set.h"
#include "ubique/data/code/read_sequences.h"
#include "ubique/data/code/tokenizer_hash.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/score/perplexity.h"
#include "ubique/models/codelm/use/place.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const data::TokenDocuments> evaluation_documents(const fs::path& path,
                                                                 const std::string& part,
                                                                 const io::Tokenizer& tokenizer,
                                                                 const fs::path& tokenizer_path,
                                                                 std::int64_t vocabulary) {
  if (data::is_code_set(path)) return std::make_shared<data::CodeSet>(path, part);
  data::ReadOptions options;
  options.chat = data::folder_chat_encoder(tokenizer_path, tokenizer);
  return std::make_shared<data::CodeDocuments>(
      data::read_sequences({path}, tokenizer, vocabulary, options));
}

engine::Outcome evaluate_codelm(const engine::Request& request) {
  const auto& config = request.config;
  const auto data_path = config.get("data", std::string());
  const auto part = config.get("part", std::string(data::kValSplit));
  const auto use = read_use_settings(config);
  const auto length = config.find<std::int64_t>("sequence_length");
  check(!data_path.empty(), ErrorKind::Usage,
        "[codelm.evaluate] which data? give -d, a folder of `data codelm git` or a file.");
  engine::Session session(request, plan::Mode::Run);
  config.finish();
  auto model = open_for_use(request, use);
  const auto& settings = model->settings();
  const auto place = tokenizer_of(*model, use.tokenizer);
  const auto tokenizer = io::read_tokenizer(place);
  const auto documents =
      evaluation_documents(data_path, part, tokenizer, place, settings.vocabulary);
  check(documents->tokenizer_hash() == data::tokenizer_hash(tokenizer), ErrorKind::Input,
        "[codelm.evaluate] {} was made with another tokenizer than the model's.", data_path);
  data::PackingOptions packing;
  packing.shuffle = false;
  packing.length = std::min(settings.context, length.value_or(packing.length));
  data::validate(packing);
  const CodeDataset rows(documents, packing, &tokenizer);
  model->set_sequence_length(packing.length);
  place_for_use(*model, use, session);
  const auto scores =
      evaluate_perplexity(model->codelm(), rows, 0, session.plan().micro_batch.value);
  engine::Outcome outcome;
  outcome.text = fmt::format(
      "loss {:.4f}, perplexity {:.3f}, accuracy {:.4f} over {} tokens of {} documents\n",
      scores.loss, scores.perplexity(), scores.accuracy, static_cast<std::int64_t>(scores.tokens),
      documents->size());
  outcome.json = json_document("codelm_evaluate", 1);
  outcome.json["loss"] = scores.loss;
  outcome.json["perplexity"] = scores.perplexity();
  outcome.json["accuracy"] = scores.accuracy;
  outcome.json["tokens"] = scores.tokens;
  outcome.json["documents"] = documents->size();
  return outcome;
}

}  // namespace

engine::Command evaluate_command() {
  return {.verb = "evaluate",
          .summary = "loss and perplexity on documents",
          .needs_model = true,
          .options = engine::all_options(
              {{{"-d,--data,--data-dir", "data", "PATH", "a data folder, or a file of sequences"},
                {"--part", "part", "NAME", "train or val of a data folder (val)"},
                {"--sequence-length", "sequence_length", "N", "tokens of a row (1024)"}},
               use_options()}),
          .examples = {{"ubique evaluate codelm --model runs/myrepo -d data/myrepo",
                        "perplexity on the documents that were held out"}},
          .run = evaluate_codelm};
}

}  // namespace ubique::codelm
