// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate trm` for a chat model: loss, perplexity and accuracy on a set of conversations.
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/terminal/table.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/data/dataset.h"
#include "ubique/models/trm/score/chat_scores.h"
#include "ubique/models/trm/use/open.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

data::PuzzleSet read_chat_set(const ChatSetChoice& choice) {
  std::error_code ignored;
  const auto has = [&](const char* set) {
    return fs::exists(choice.folder / set / "dataset.json", ignored);
  };
  check(choice.set != "test" || has("test") || !has("train"), ErrorKind::Input,
        "[trm.evaluate] {} has no held-out conversations; got a train set only. --set train "
        "scores the training data, `ubique data trm chat --split 0.9` holds some out.",
        choice.folder.string());
  return data::read_puzzle_set(choice.folder, choice.set);
}

std::string chat_table(const ChatScores& scores) {
  if (scores.tokens == 0) return "no token has a label, so there is nothing to score\n";
  Table table({"conversations", "tokens", "loss/token", "perplexity", "tokens right", "lm_loss",
               "tokens/s"});
  table.add_row(
      {std::to_string(scores.conversations), std::to_string(scores.tokens),
       fmt::format("{:.4f}", scores.token_loss), fmt::format("{:.3f}", scores.perplexity()),
       fmt::format("{:.2f} %", 100 * scores.accuracy), fmt::format("{:.4f}", scores.lm_loss),
       fmt::format("{:.0f}", static_cast<double>(scores.tokens) / std::max(scores.seconds, 1e-9))});
  return table.to_text();
}

}  // namespace

engine::Outcome evaluate_chat(const engine::Request& request, TrmModel& model,
                              const ChatSetChoice& choice) {
  const auto set = read_chat_set(choice);
  check_fits(set, model.settings(), (choice.folder / choice.set).string());
  const auto session = open_model_session(model, request);
  check_output_file(request.output);
  const auto examples = spread_examples(set.examples(), choice.limit);
  const auto count = std::ssize(examples);
  const auto batch = solver_options(session.plan(), count).slots;
  const auto weights = model.trm().cast(probe::to_torch(session.plan().dtype.value));
  engine::RankProgress progress(
      {.title = "evaluate", .total = count, .unit = "rows", .style = request.progress});
  const auto scores =
      score_chat(model.trm(), weights, set, examples, batch, [&](std::int64_t done) {
        progress.advance(done);
        return !(request.stop_requested && request.stop_requested());
      });
  progress.finish();

  engine::Outcome outcome;
  outcome.json = json_document("trm_evaluate_chat", 1);
  outcome.json["model"] = request.model;
  outcome.json["device"] = session.facts().label();
  outcome.json["dtype"] = to_string(session.plan().dtype.value);
  outcome.json["batch"] = batch;
  outcome.json["scores"] = scores.json();
  outcome.text = chat_table(scores);
  if (scores.stopped) {
    outcome.text += "stopped: these are the conversations so far\n";
    outcome.code = ExitCode::Interrupted;
  }
  if (!request.output.empty() && dist::world().is_first()) {
    write_file(request.output, json_text(outcome.json, 2) + "\n");
  }
  return outcome;
}

}  // namespace ubique::trm
