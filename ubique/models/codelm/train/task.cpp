// SPDX-License-Identifier: Apache-2.0
// Building a task from a request, and validation during training.
#include "ubique/models/codelm/train/task.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/utf8.h"
#include "ubique/data/code/code_set.h"
#include "ubique/data/code/filter/document_filter.h"
#include "ubique/data/code/first_documents.h"
#include "ubique/data/code/read_sequences.h"
#include "ubique/data/code/tokenizer_hash.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/io/hub/cache.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/score/perplexity.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;

using Documents = std::shared_ptr<const data::TokenDocuments>;

/// --tokenizer, else the model's, else the data set's.
fs::path tokenizer_path(const TrainSettings& settings, const CodelmModel* model) {
  if (model != nullptr) return tokenizer_of(*model, settings.tokenizer);
  if (!settings.tokenizer.empty()) return settings.tokenizer;
  check(!settings.data.empty(), ErrorKind::Usage,
        "[codelm.train] which tokenizer? expected --tokenizer PATH; `ubique data codelm tokenizer "
        "FILES -o tokenizer.json` trains one.");
  return fs::path(settings.data) / "tokenizer";
}

/// Token ids mean nothing under another tokenizer.
void check_tokenizer(const data::TokenDocuments& documents, const io::Tokenizer& tokenizer,
                     const CodelmModel& model, const std::string& where) {
  const auto hash = data::tokenizer_hash(tokenizer);
  check(documents.tokenizer_hash() == hash, ErrorKind::Input,
        "[codelm.train] {} was made with another tokenizer than the model's; got {}, expected {}. "
        "Make the data again with --tokenizer of the model.",
        where, documents.tokenizer_hash(), hash);
  check(documents.vocabulary() <= model.settings().vocabulary, ErrorKind::Input,
        "[codelm.train] {} has ids up to {}, the model knows {} tokens.", where,
        documents.vocabulary() - 1, model.settings().vocabulary);
}

struct Split {
  Documents train, val;  // val may be null
};

/// Whole documents are held out, with those like them, before anything is cut into rows.
Split split_in_memory(const data::CodeDocuments& all, double share, std::uint64_t seed) {
  const auto [train, val] = data::split_documents(all, share, seed);
  const auto part = [&](const std::vector<std::int64_t>& chosen) -> Documents {
    if (chosen.empty()) return nullptr;
    return std::make_shared<data::CodeDocuments>(all.chosen(chosen));
  };
  // A file of one or two documents is trained on.
  return train.empty() ? Split{part(val), nullptr} : Split{part(train), part(val)};
}

Split read_documents(const TrainSettings& settings, const CodelmTaskParts& parts) {
  if (!settings.data.empty()) {
    auto train = std::make_shared<data::CodeSet>(settings.data, data::kTrainSplit);
    const bool held_out = train->header().val.documents > 0;
    return {train,
            held_out ? std::make_shared<data::CodeSet>(settings.data, data::kValSplit) : nullptr};
  }
  const auto& tokenizer = *parts.tokenizer;
  const auto vocabulary = parts.model->settings().vocabulary;
  data::ReadOptions options;
  options.chat = data::folder_chat_encoder(parts.tokenizer_path, tokenizer);
  auto all = data::read_sequences(settings.sequences, tokenizer, vocabulary, options);
  if (settings.val_sequences.empty()) {
    return split_in_memory(all, settings.val_share, settings.recipe.seed);
  }
  auto val = data::read_sequences(settings.val_sequences, tokenizer, vocabulary, options);
  return {std::make_shared<data::CodeDocuments>(std::move(all)),
          std::make_shared<data::CodeDocuments>(std::move(val))};
}

void choose_length(TrainSettings& settings, CodelmModel& model) {
  const auto context = model.settings().context;
  if (!settings.length_given) settings.packing.length = std::min(settings.packing.length, context);
  check(settings.packing.length <= context, ErrorKind::Usage,
        "[codelm.train] --sequence-length {} is longer than the model's context; expected at most "
        "{}.",
        settings.packing.length, context);
  model.set_sequence_length(settings.packing.length);
}

data::PackingOptions validation_packing(data::PackingOptions packing) {
  packing.shuffle = false;
  packing.fim.reset();
  return packing;
}

/// The first letters of a text; bytes that are no UTF-8 are replaced.
std::string shown_start(const std::string& text, std::int64_t letters) {
  const auto whole = is_utf8(text) ? text : replace_invalid_utf8(text);
  if (letters == 0) return whole;
  std::size_t at = 0;
  for (std::int64_t i = 0; i < letters && at < whole.size(); ++i) {
    do ++at;
    while (at < whole.size() && (static_cast<unsigned char>(whole[at]) & 0xC0U) == 0x80U);
  }
  return at < whole.size() ? whole.substr(0, at) + "..." : whole;
}

/// As many epochs as see the tokens that are wanted.
void choose_epochs(TrainSettings& settings, std::int64_t tokens) {
  const auto& goal = settings.goal;
  if (goal.tokens == 0) return;
  settings.recipe.epochs =
      std::clamp(goal.tokens / std::max<std::int64_t>(1, tokens), goal.least, goal.most);
  log::info("{} epochs of {} tokens for {} in all", settings.recipe.epochs, tokens, goal.tokens);
}

}  // namespace

std::unique_ptr<CodelmModel> new_model(CodelmConfig network, const io::Tokenizer& tokenizer) {
  network.vocabulary = tokenizer.size();
  network.end_tokens = {data::end_of_text(tokenizer)};
  validate(network, "the settings");
  return std::make_unique<CodelmModel>(std::make_shared<Codelm>(network));
}

std::unique_ptr<engine::Task> make_codelm_task(const engine::Request& request) {
  CodelmTaskParts parts;
  auto& settings = parts.settings = read_codelm_settings(request);
  const auto fresh = read_new_network(request.config);
  request.config.finish();
  if (!settings.model.empty()) settings.model = io::hub_folder(settings.model).string();
  if (!settings.tokenizer.empty()) settings.tokenizer = io::hub_folder(settings.tokenizer).string();
  if (!settings.model.empty()) parts.model = open_codelm(settings.model);
  const auto path = tokenizer_path(settings, parts.model.get());
  parts.tokenizer = std::make_shared<io::Tokenizer>(io::read_tokenizer(path));
  parts.tokenizer_path = path;
  if (!parts.model) parts.model = new_model(fresh, *parts.tokenizer);
  if (settings.adapter) {
    check(parts.model->adapters() == nullptr, ErrorKind::Usage,
          "[codelm.train] {} has adapters already; leave --lora out to train those, or merge them "
          "first: ubique convert codelm {} --format huggingface -o FOLDER.",
          settings.model, settings.model);
    parts.model->add_adapters(*settings.adapter, fs::absolute(settings.model));
    parts.model->initialize(Random(settings.recipe.seed));
    parts.model->quantize_base(settings.base_weights);
  }
  parts.model->set_averaged(settings.recipe.ema_decay > 0);
  choose_length(settings, *parts.model);
  auto split = read_documents(settings, parts);
  if (settings.most_documents > 0) {
    split.train = std::make_shared<data::FirstDocuments>(split.train, settings.most_documents);
  }
  check_tokenizer(*split.train, *parts.tokenizer, *parts.model,
                  settings.data.empty() ? "the data" : settings.data);
  parts.training = std::make_unique<CodeDataset>(split.train, settings.packing,
                                                 parts.tokenizer.get(), settings.curriculum);
  choose_epochs(settings, split.train->tokens());
  if (split.val) {
    parts.validation = std::make_unique<CodeDataset>(
        split.val, validation_packing(settings.packing), parts.tokenizer.get());
  }
  log::info("{}: {} documents of {} tokens in {} rows of {} for training, {} for validation",
            parts.model->settings().name(), split.train->size(), split.train->tokens(),
            parts.training->size(), settings.packing.length,
            split.val ? fmt::format("{} documents", split.val->size()) : "none");
  return std::make_unique<CodelmTask>(std::move(parts));
}

engine::Scores CodelmTask::score(std::int64_t most_rows) {
  if (!parts_.validation) return {};
  const auto scores = evaluate_perplexity(parts_.model->codelm(), *parts_.validation, most_rows);
  return {
      {"loss", scores.loss}, {"perplexity", scores.perplexity()}, {"accuracy", scores.accuracy}};
}

engine::Scores CodelmTask::validate() { return score(parts_.settings.val_rows); }

engine::Scores CodelmTask::validate_last() { return score(0); }

std::vector<engine::ReportText> CodelmTask::texts() {
  // KV caches have the dtype of the weights, which autocast would not follow.
  const engine::Autocast plain(parts_.model->codelm().head().device().type(), {});
  const auto& samples = parts_.settings.samples;
  std::vector<engine::ReportText> texts;
  for (const auto& prompt : samples.prompts) {
    const auto ids = parts_.tokenizer->encode(prompt);
    if (ids.empty()) continue;
    for (std::int64_t i = 0; i < samples.count; ++i) {
      CodelmDecoder decoder(parts_.model->codelm());
      auto options = samples.generate;
      options.seed = parts_.settings.recipe.seed + static_cast<std::uint64_t>(i);
      const auto made = nn::generate(decoder, ids, *parts_.tokenizer, options);
      const auto number = samples.count > 1 ? fmt::format("sample {}", i + 1) : "sample";
      texts.push_back({number, shown_start(prompt + made.text, samples.trim)});
    }
  }
  return texts;
}

void CodelmTask::checkpoint_saved(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / "tokenizer" / "tokenizer.json", ignored)) return;
  copy_tokenizer_files(parts_.tokenizer_path, folder / "tokenizer");
}

Json CodelmTask::provenance() const {
  return {{"tokenizer", data::tokenizer_hash(*parts_.tokenizer)},
          {"sequence_length", parts_.settings.packing.length}};
}

}  // namespace ubique::codelm
