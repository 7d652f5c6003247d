// SPDX-License-Identifier: Apache-2.0
// `ubique run codelm`: completes a prompt, or fills in what stands between two texts.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/fim.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/models/codelm/use/place.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::codelm {
namespace {

struct RunSettings {
  std::string prompt, prefix, suffix;
  UseSettings use;
  bool fills = false;  ///< --prefix and --suffix, or --file with --cursor
  nn::GenerateOptions generate;
};

/// The file's text before and after LINE:COLUMN (both from 1).
void read_cursor(const Config& config, RunSettings& settings) {
  const auto file = config.get("file", std::string());
  const auto cursor = config.get("cursor", std::string());
  if (file.empty() && cursor.empty()) return;
  check(!file.empty() && !cursor.empty(), ErrorKind::Usage,
        "[codelm.run] --file and --cursor LINE:COLUMN belong together.");
  const auto text = read_file(file);
  const auto parts = split(cursor, ':');
  const auto line = parse_number(parts.front()), column = parse_number(parts.back());
  check(parts.size() == 2 && line && column && *line >= 1 && *column >= 1, ErrorKind::Usage,
        "[codelm.run] --cursor is '{}', expected LINE:COLUMN, both from 1.", printable(cursor));
  std::size_t at = 0;
  for (double i = 1; i < *line && at != std::string::npos; ++i) {
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  check(at != std::string::npos, ErrorKind::Usage, "[codelm.run] --cursor {}: {} has fewer lines.",
        cursor, file);
  const auto rest = std::min(text.find('\n', at), text.size()) - at;  // of the line
  check(*column - 1 <= static_cast<double>(rest), ErrorKind::Usage,
        "[codelm.run] --cursor {}: the line ends before; expected a column from 1 to {}.", cursor,
        rest + 1);
  at += static_cast<std::size_t>(*column) - 1;
  settings.prefix = text.substr(0, at);
  settings.suffix = text.substr(at);
  settings.fills = true;
}

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
  settings.use = read_use_settings(config);
  settings.prompt = config.get("prompt", std::string());
  settings.prefix = config.get("prefix", std::string());
  settings.suffix = config.get("suffix", std::string());
  settings.fills = config.has("prefix") || config.has("suffix");
  read_cursor(config, settings);
  for (const auto& file : request.inputs) settings.prompt += read_file(file);
  nn::validate(generate);
  const bool prompted = !settings.prompt.empty();
  check(prompted != settings.fills, ErrorKind::Usage,
        "[codelm.run] what is to be completed? got {}; expected --prompt TEXT, a file, or --prefix "
        "and --suffix (or --file with --cursor) for what stands between.",
        prompted ? "a prompt and a place to fill" : "nothing");
  return settings;
}

std::vector<std::int32_t> prompt_tokens(const RunSettings& settings,
                                        const io::Tokenizer& tokenizer) {
  if (!settings.fills) return tokenizer.encode(settings.prompt);
  const auto fim = data::find_fim_tokens(tokenizer);
  check(fim.has_value(), ErrorKind::Input,
        "[codelm.run] this model cannot fill in the middle: its tokenizer lacks <fim_prefix>, "
        "<fim_suffix> and <fim_middle>. Use --prompt.");
  const data::FimParts parts{
      tokenizer.encode(settings.prefix), {}, tokenizer.encode(settings.suffix)};
  return data::arrange_fim(parts, data::FimOrder::Psm, *fim);
}

engine::Outcome run_codelm(const engine::Request& request) {
  if (request.config.get("chat", false)) return run_codelm_chat(request);
  const auto settings = read_run_settings(request);
  engine::Session session(request, plan::Mode::Run);
  request.config.finish();
  auto model = open_for_use(request, settings.use);
  const auto tokenizer = io::read_tokenizer(tokenizer_of(*model, settings.use.tokenizer));
  check(tokenizer.size() <= model->settings().vocabulary, ErrorKind::Input,
        "[codelm.run] the tokenizer is not the model's; got {} tokens, expected at most {}. "
        "--tokenizer names another.",
        tokenizer.size(), model->settings().vocabulary);
  const auto prompt = prompt_tokens(settings, tokenizer);
  const auto pass = place_for_use(*model, settings.use, session);
  CodelmDecoder decoder(model->codelm(), pass);

  const bool streams =
      request.progress != ProgressStyle::JsonLines && request.progress != ProgressStyle::Silent;
  auto generate = settings.generate;
  generate.stop_tokens = model->settings().end_tokens;
  const auto start = std::chrono::steady_clock::now();
  if (streams && !settings.fills) request.print(printable_lines(settings.prompt));
  const auto made = nn::generate(decoder, prompt, tokenizer, generate, [&](std::string_view text) {
    if (streams) request.print(printable_lines(text));
    return !(request.stop_requested && request.stop_requested());
  });
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  engine::Outcome outcome;
  outcome.text = streams ? "\n" : made.text + "\n";
  outcome.json = json_document("codelm_run", 1);
  outcome.json["completion"] = made.text;
  outcome.json["end"] = nn::to_string(made.end);
  outcome.json["tokens"] = made.tokens;
  outcome.json["prompt_tokens"] = prompt.size();
  outcome.json["seconds"] = seconds;
  outcome.json["seed"] = generate.seed;
  if (made.end == nn::CompletionEnd::Stopped) outcome.code = ExitCode::Interrupted;
  return outcome;
}

}  // namespace

engine::Command run_command() {
  const auto prompt = engine::in_group(
      "Prompt", {{"--prompt", "prompt", "TEXT", "continue this; or give files"},
                 {"--prefix", "prefix", "TEXT", "fill in what follows this ..."},
                 {"--suffix", "suffix", "TEXT", "... and stands before this"},
                 {"--file", "file", "PATH", "fill in a place of this file"},
                 {"--cursor", "cursor", "LINE:COLUMN", "the place, both from 1"},
                 {"--chat", "chat", "", "talk with a chat model; --prompt asks one question"},
                 {"--system", "system", "TEXT", "what every answer of a chat sees first"}});
  const auto sampling = engine::in_group(
      "Sampling", {{"--max-new-tokens", "max_new_tokens", "N", "most tokens (128)"},
                   {"--temperature", "temperature", "X", "0: the likeliest token (0.2)"},
                   {"--top-k", "top_k", "N", "among the N likeliest; 0: all (50)"},
                   {"--top-p", "top_p", "X", "among the fewest with this much of the mass (0.95)"},
                   {"--min-p", "min_p", "X", "at least this share as likely as the likeliest (0)"},
                   {"--repetition-penalty", "repetition_penalty", "X",
                    "above 1: tokens seen before are less likely (1)"},
                   {"--stop", "stop", "TEXTS", "end before one of these texts"},
                   {"--seed", "seed", "N", "the same seed, the same text (0)"}});
  return {.verb = "run",
          .summary = "complete code, or fill in the middle",
          .inputs = "[FILE...]",
          .needs_model = true,
          .options = engine::all_options({prompt, use_options(), sampling}),
          .examples = {{"ubique run codelm --model tiny_starcoder_py --prompt 'def fibonacci(n):'",
                        "what comes next"},
                       {"ubique run codelm --model runs/myrepo --file main.py --cursor 12:5",
                        "what belongs at that place"},
                       {"ubique run codelm --model Qwen2.5-Coder --chat",
                        "a conversation, by the model's own chat template"}},
          .run = run_codelm};
}

}  // namespace ubique::codelm
