// SPDX-License-Identifier: Apache-2.0
// `ubique run codelm`: completes prompts, or fills in what stands between two texts.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/commands/run_prompts.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/models/codelm/use/place.h"
#include "ubique/nn/decode/generator.h"

namespace ubique::codelm {
namespace {

constexpr std::int64_t kDefaultLookup = 0;

struct RunSettings {
  std::vector<Prompt> prompts;
  UseSettings use;
  nn::GenerateOptions generate;
  std::int64_t slots = 8;
};

RunSettings read_run_settings(const engine::Request& request) {
  const auto& config = request.config;
  RunSettings settings;
  auto& generate = settings.generate;
  auto& sampling = generate.sampling;
  sampling.temperature = config.get("temperature", 0.2);
  sampling.top_k = config.get("top_k", sampling.top_k);
  sampling.top_p = config.get("top_p", 0.95);
  sampling.min_p = config.get("min_p", 0.0);
  sampling.repetition_penalty = config.get("repetition_penalty", 1.0);
  generate.max_new_tokens = config.get("max_new_tokens", generate.max_new_tokens);
  generate.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 0));
  generate.stop_texts = config.get("stop", std::vector<std::string>{});
  generate.lookup = config.get("lookup", kDefaultLookup);
  settings.use = read_use_settings(config);
  settings.prompts = read_prompts(request);
  const auto count = static_cast<std::int64_t>(settings.prompts.size());
  settings.slots = std::min(config.get("slots", settings.slots), count);
  nn::validate(generate);
  return settings;
}

/// Completes all prompts through one decoder; the results are in their order.
class Completions {
 public:
  Completions(const engine::Request& request, const RunSettings& settings,
              const io::Tokenizer& tokenizer)
      : request_(request),
        settings_(settings),
        tokenizer_(tokenizer),
        share_(std::ssize(settings.prompts)),
        made_(settings.prompts.size()) {
    for (const auto& prompt : settings.prompts) {
      tokens_.push_back(prompt_tokens(prompt, tokenizer));
    }
    const bool quiet =
        request.progress == ProgressStyle::JsonLines || request.progress == ProgressStyle::Silent;
    streams_ = !quiet && made_.size() == 1;
  }

  void run(nn::Decoder& decoder, const CodelmConfig& config) {
    nn::Generator generator(decoder, tokenizer_);
    auto options = settings_.generate;
    options.stop_tokens = config.end_tokens;
    for (const auto job : share_.mine()) {
      const auto i = static_cast<std::size_t>(job);
      generator.submit({.prompt = tokens_[i],
                        .options = options,
                        .show = [this](std::string_view text) { return show(text); },
                        .finished = [this, i](const nn::Completion& made) { made_[i] = made; }});
    }
    if (const auto& only = settings_.prompts.front(); streams_ && !only.fills) show(only.text);
    const auto start = std::chrono::steady_clock::now();
    while (generator.step()) {
    }
    collect();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds_ = std::max(taken.count(), 1e-9);
  }

  engine::Outcome outcome() const {
    engine::Outcome outcome;
    outcome.json = json_document("codelm_run", 1);
    auto results = Json::array();
    std::int64_t tokens = 0, passes = 0;
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const auto& made = made_[i];
      results.push_back(result_of(i));
      if (made_.size() > 1) outcome.text += fmt::format("--- {}\n", i + 1);
      outcome.text += streams_ ? "\n" : made.text + "\n";
      if (made.end == nn::CompletionEnd::Stopped) outcome.code = ExitCode::Interrupted;
      tokens += static_cast<std::int64_t>(made.tokens.size());
      passes += made.passes;
    }
    log::debug(
        "{} tokens in {:.3f} s, {:.1f} a second, {:.2f} for each pass of a request", tokens,
        seconds_, static_cast<double>(tokens) / seconds_,
        static_cast<double>(tokens) / static_cast<double>(std::max<std::int64_t>(passes, 1)));
    if (results.size() == 1) {
      outcome.json.update(results[0]);
    } else {
      outcome.json["results"] = results;
    }
    outcome.json["seconds"] = seconds_;
    outcome.json["seed"] = settings_.generate.seed;
    return outcome;
  }

 private:
  bool show(std::string_view text) const {
    if (streams_) request_.print(printable_lines(text));
    return !(request_.stop_requested && request_.stop_requested());
  }

  /// Gets what the other ranks made.
  void collect() {
    std::vector<Json> mine;
    for (const auto job : share_.mine()) {
      const auto& made = made_[static_cast<std::size_t>(job)];
      mine.push_back({made.text, made.tokens, static_cast<int>(made.end), made.passes});
    }
    const auto all = share_.collect(std::move(mine));
    for (std::size_t i = 0; i < made_.size(); ++i) {
      made_[i] = {.text = all[i][0],
                  .tokens = all[i][1].get<std::vector<std::int32_t>>(),
                  .end = static_cast<nn::CompletionEnd>(all[i][2].get<int>()),
                  .passes = all[i][3]};
    }
  }

  Json result_of(std::size_t i) const {
    const auto& made = made_[i];
    return {{"completion", made.text},
            {"end", nn::to_string(made.end)},
            {"tokens", made.tokens},
            {"passes", made.passes},
            {"prompt_tokens", tokens_[i].size()}};
  }

  const engine::Request& request_;
  const RunSettings& settings_;
  const io::Tokenizer& tokenizer_;
  engine::RankJobs share_;
  std::vector<std::vector<std::int32_t>> tokens_;  // of the prompts
  std::vector<nn::Completion> made_;
  bool streams_ = false;
  double seconds_ = 0;
};

engine::Outcome run_codelm(const engine::Request& request) {
  if (request.config.get("chat", false)) {
    engine::require_one_process("a chat");
    return run_codelm_chat(request);
  }
  if (request.config.get("worker", false)) {
    engine::require_one_process("a worker");
    return run_codelm_worker(request);
  }
  const auto settings = read_run_settings(request);
  engine::Session session(request, plan::Mode::Run);
  request.config.finish();
  auto model = open_for_use(request, settings.use);
  const auto tokenizer = io::read_tokenizer(tokenizer_of(*model, settings.use.tokenizer));
  check(tokenizer.size() <= model->settings().vocabulary, ErrorKind::Input,
        "[codelm.run] the tokenizer is not the model's; got {} tokens, expected at most {}. "
        "--tokenizer names another.",
        tokenizer.size(), model->settings().vocabulary);
  Completions completions(request, settings, tokenizer);
  const auto pass = place_for_use(*model, settings.use, session);
  CodelmDecoder decoder(model->codelm(), pass,
                        {.slots = settings.slots, .record = session.plan().graph_capture.value});
  completions.run(decoder, model->settings());
  return completions.outcome();
}

}  // namespace

engine::Command run_command() {
  const auto sampling = engine::in_group(
      "Sampling", {{"--max-new-tokens", "max_new_tokens", "N", "most tokens (128)"},
                   {"--temperature", "temperature", "X", "0: the likeliest token (0.2)"},
                   {"--top-k", "top_k", "N", "among the N likeliest; 0: all (50)"},
                   {"--top-p", "top_p", "X", "among the fewest with this much of the mass (0.95)"},
                   {"--min-p", "min_p", "X", "at least this share as likely as the likeliest (0)"},
                   {"--repetition-penalty", "repetition_penalty", "X",
                    "above 1: tokens seen before are less likely (1)"},
                   {"--stop", "stop", "TEXTS", "end before one of these texts"},
                   {"--seed", "seed", "N", "the same seed, the same text (0)"},
                   {"--lookup", "lookup", "N",
                    "guess N tokens ahead from the text: the same text, faster; 0: off (0)"}});
  return {.verb = "run",
          .summary = "complete code, or fill in the middle",
          .inputs = "[FILE...]",
          .needs_model = true,
          .options = engine::all_options({prompt_options(), use_options(), sampling}),
          .examples = {{"ubique run codelm --model tiny_starcoder_py --prompt 'def fibonacci(n):'",
                        "what comes next"},
                       {"ubique run codelm --model runs/myrepo --file main.py --cursor 12:5",
                        "what belongs at that place"},
                       {"ubique run codelm --model tiny_starcoder_py --prompts lines.jsonl --json",
                        "many prompts at once, the answers in their order"},
                       {"ubique run codelm --model Qwen2.5-Coder --chat",
                        "a conversation, by the model's own chat template"}},
          .run = run_codelm};
}

}  // namespace ubique::codelm
