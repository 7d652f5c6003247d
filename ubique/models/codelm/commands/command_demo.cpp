// SPDX-License-Identifier: Apache-2.0
// `ubique demo codelm`: trains a tokenizer and a small network on sources that lie on the machine,
// compares perplexity before and after, and counts completions that parse. The commands are those
// that a person would type.
#include <fmt/format.h>

#include "ubique/base/files/process.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/code_set.h"
#include "ubique/engine/session/session.h"
#include "ubique/engine/walk/demo.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/commands/data_commands.h"
#include "ubique/models/codelm/data/demo_sources.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/score/syntax.h"
#include "ubique/models/codelm/train/task.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/models/codelm/use/place.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::codelm {
namespace {

namespace fs = std::filesystem;
using engine::demo_request;

/// How much is done.
struct DemoSize {
  std::int64_t bytes;  // of sources
  const char *vocabulary, *layers, *hidden, *heads, *steps;
  std::uint64_t seeds;  // completions of each prompt
};
constexpr DemoSize kWholeSize{3'000'000, "2048", "4", "192", "6", "400", 3};
constexpr DemoSize kQuickSize{200'000, "512", "2", "64", "4", "40", 1};

const std::vector<std::string>& demo_prompts(bool python) {
  static const std::vector<std::string> kPython = {"def __init__(self, name, value=None):\n",
                                                   "def read(path):\n    ",
                                                   "class Error(Exception):\n",
                                                   "for key, value in items:\n",
                                                   "if not isinstance(value, str):\n",
                                                   "import os\nimport "};
  static const std::vector<std::string> kOther = {
      "#include <", "struct ", "static inline int ", "#define ", "typedef struct ", "extern int "};
  return python ? kPython : kOther;
}

/// The parts of a demo's folder; what is there already is used again.
struct DemoFolder {
  explicit DemoFolder(const fs::path& folder)
      : tokenizer(folder / "tokenizer.json"),
        data(folder / "data"),
        untrained(folder / "untrained"),
        run(folder / "run") {}
  fs::path tokenizer, data, untrained, run;
};

/// Tokenizer and data set. False if it was stopped.
bool prepare_data(const engine::Request& request, const DemoSources& sources, const DemoSize& size,
                  const DemoFolder& folder) {
  const auto run = [&](const engine::Command& command, const engine::DemoFlags& flags,
                       const fs::path& output) {
    auto own = demo_request(request, flags, output, /*on_device=*/false);
    for (const auto& file : sources.files) own.inputs.push_back(file.string());
    return command.run(own).code == ExitCode::Ok;
  };
  if (!fs::exists(folder.tokenizer) &&
      !run(data_tokenizer_command(), {{"size", size.vocabulary}}, folder.tokenizer)) {
    return false;
  }
  return data::is_code_set(folder.data) ||
         run(data_import_command(), {{"tokenizer", folder.tokenizer.string()}}, folder.data);
}

/// A new network with its first weights, so that its perplexity can be measured too.
void write_untrained(const DemoSize& size, const DemoFolder& folder) {
  if (fs::exists(folder.untrained)) return;
  Config config;
  for (const auto& [key, value] : engine::DemoFlags{{"layers", size.layers},
                                                    {"hidden", size.hidden},
                                                    {"heads", size.heads},
                                                    {"context", "256"}}) {
    config.set_flag(key, value);
  }
  const auto model = new_model(read_new_network(config), io::read_tokenizer(folder.tokenizer));
  model->initialize(Random(0));
  write_huggingface(*model, folder.untrained, "float32", folder.tokenizer);
}

engine::DemoFlags demo_training(const DemoSize& size, const DemoFolder& folder) {
  return {{"model", folder.untrained.string()},
          {"data", folder.data.string()},
          {"sequence_length", "256"},
          {"effective_batch", "8"},
          {"lr", "3e-3"},
          {"warmup", "0.05"},
          {"epochs", "1000"},
          {"validate_every", "1000"},
          {"max_steps", size.steps}};
}

double perplexity_of(const engine::Request& request, const fs::path& model, const fs::path& data) {
  auto own = demo_request(request, {{"data", data.string()}, {"sequence_length", "256"}}, {});
  own.model = model.string();
  return evaluate_command().run(own).json.at("perplexity").get<double>();
}

struct DemoCompletion {
  std::string text;  // prompt and completion, up to the end of the first statement
  bool parses = false;
};

std::vector<DemoCompletion> complete_prompts(const engine::Request& request, const fs::path& path,
                                             bool python, std::uint64_t seeds) {
  auto own = demo_request(request, {}, {});
  own.model = path.string();
  const auto use = read_use_settings(own.config);
  engine::Session session(own, plan::Mode::Run);
  own.config.finish();
  const auto model = open_for_use(own, use);
  const auto tokenizer = io::read_tokenizer(tokenizer_of(*model, {}));
  const auto pass = place_for_use(*model, use, session);
  const bool asks_python = python && find_program("python3").has_value();
  std::vector<DemoCompletion> made;
  for (const auto& prompt : demo_prompts(python)) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      nn::GenerateOptions options;
      options.sampling.temperature = 0.5;
      options.max_new_tokens = 96;
      options.seed = seed;
      options.stop_tokens = model->settings().end_tokens;
      CodelmDecoder decoder(model->codelm(), pass);
      const auto end = nn::generate(decoder, tokenizer.encode(prompt), tokenizer, options);
      DemoCompletion done{first_statement(prompt + end.text), false};
      done.parses =
          asks_python ? python_parses(done.text) : brackets_match(done.text, python ? "#" : "//");
      made.push_back(std::move(done));
    }
  }
  return made;
}

std::string completions_text(const std::vector<DemoCompletion>& made, std::uint64_t seeds) {
  std::string text;
  for (std::size_t i = 0; i < made.size(); i += seeds) {  // one of each prompt
    const auto body = made[i].text.ends_with('\n') ? made[i].text : made[i].text + "\n";
    text += fmt::format("--- {}\n{}", made[i].parses ? "parses" : "does not parse", body);
  }
  return text;
}

engine::Outcome demo_outcome(const DemoSources& sources, double before, double after,
                             const std::vector<DemoCompletion>& made, std::uint64_t seeds) {
  engine::Outcome outcome;
  auto& json = outcome.json = json_document("demo", 1);
  const auto parsing = std::ranges::count(made, true, &DemoCompletion::parses);
  const bool by_python = sources.python && find_program("python3").has_value();
  json["sources"] = sources.folder.string();
  json["files"] = sources.files.size();
  json["bytes"] = sources.bytes;
  json["perplexity"] = {{"before", before}, {"after", after}};
  json["parse"] = {
      {"of", made.size()}, {"count", parsing}, {"check", by_python ? "python" : "brackets"}};
  json["completions"] = Json::array();
  for (const auto& each : made) {
    json["completions"].push_back({{"text", each.text}, {"parses", each.parses}});
  }
  outcome.text = completions_text(made, seeds) + "---\n";
  outcome.text += fmt::format(
      "trained on {} files of {}\nperplexity on files it never saw: {:.1f} before, {:.1f} after\n",
      sources.files.size(), sources.folder.string(), before, after);
  outcome.text += fmt::format(
      "completions that {}: {} of {}\n",
      by_python ? "Python's parser accepts" : "close their brackets (no parser for them here)",
      parsing, made.size());
  return outcome;
}

engine::Outcome demo_codelm(const engine::Request& request) {
  const auto output = request.output.empty() ? fs::path("demo") / "codelm" : request.output;
  const auto& size = request.config.get("quick", false) ? kQuickSize : kWholeSize;
  const auto sources =
      find_demo_sources(request.config.get<std::string>("sources", ""), size.bytes);
  fs::create_directories(output);
  const DemoFolder folder(output);
  if (!prepare_data(request, sources, size, folder)) return engine::interrupted_demo();
  write_untrained(size, folder);
  const auto before = perplexity_of(request, folder.untrained, folder.data);
  const auto trained = engine::train_demo(
      demo_request(request, demo_training(size, folder), folder.run), make_codelm_task);
  if (trained.interrupted) return engine::interrupted_demo();
  const auto after = perplexity_of(request, folder.run, folder.data);
  const auto made = complete_prompts(request, folder.run, sources.python, size.seeds);
  auto outcome = demo_outcome(sources, before, after, made, size.seeds);
  outcome.json["report"] = trained.report.string();
  outcome.json["model"] = folder.run.string();
  outcome.text +=
      fmt::format("report: {}\nmodel:  {}\n", trained.report.string(), folder.run.string());
  return outcome;
}

}  // namespace

engine::Command demo_command() {
  return {.verb = "demo",
          .summary = "train a small code model on this machine's sources, complete with it",
          .options = {{"--quick,--smoke", "quick", "", "a tiny network and few steps, in seconds"},
                      {"--sources", "sources", "DIR",
                       "train on the files below it (Python's library, or /usr/include)"}},
          .examples = {{"ubique demo codelm", "some minutes on two cores"},
                       {"ubique demo codelm --quick --device sham", "the code that a Mac runs"}},
          .run = demo_codelm};
}

}  // namespace ubique::codelm
