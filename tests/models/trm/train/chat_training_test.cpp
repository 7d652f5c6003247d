// SPDX-License-Identifier: Apache-2.0
// Training on conversations: the watched score, refusals, and scores of a chat model.
#include "tests/models/trm/chat_samples.h"
#include "training_samples.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/walk/chat.h"
#include "ubique/models/trm/score/chat_scores.h"

using namespace ubique;
using namespace ubique::test;

namespace {

void write_conversations(const std::filesystem::path& folder, double split) {
  std::vector<io::Conversation> list;
  for (int i = 0; i < 8; ++i) {
    list.push_back({{{io::Role::User, "What is " + std::to_string(i) + "?"},
                     {io::Role::Assistant, i % 2 == 0 ? "Even." : "Odd, as it is."}}});
  }
  (void)data::write_chat_set(folder, list, data::train_chat_tokenizer({}, 266),
                             {.rows = {.length = 48}, .split = split});
}

trm::TrmConfig chat_config_of_48() {
  auto config = chat_config();
  config.seq_len = 48;
  return config;
}

engine::Request chat_request(const std::filesystem::path& data,
                             std::vector<std::pair<std::string, std::string>> more = {}) {
  more.insert(more.begin(), {{"arch.mlp_t", "false"},
                             {"arch.causal", "true"},
                             {"arch.pos_encodings", "rope"},
                             {"arch.puzzle_emb_ndim", "0"},
                             {"arch.halt_max_steps", "1"}});
  return small_request(data, more);
}

}  // namespace

TEST_CASE(
    "chat training: by default the best epoch has the lowest loss on held-out conversations") {
  const ScratchFolder scratch;
  write_conversations(scratch / "chat", 0.5);
  auto recipe = trm::make_task(chat_request(scratch / "chat"))->recipe();
  CHECK(recipe.watch == "lm_loss");
  CHECK_FALSE(recipe.watch_higher);
  recipe = trm::make_task(chat_request(scratch / "chat", {{"watch", "accuracy"}}))->recipe();
  CHECK(recipe.watch == "accuracy");
  CHECK(recipe.watch_higher);
  recipe = trm::make_task(chat_request(scratch / "chat", {{"watch", "q_halt_loss"}}))->recipe();
  CHECK_FALSE(recipe.watch_higher);
  write_conversations(scratch / "all", 1);
  CHECK(trm::make_task(chat_request(scratch / "all"))->recipe().watch.empty());
  write_small_sudokus(scratch / "puzzles", 4, 4);
  recipe = trm::make_task(small_request(scratch / "puzzles", {}))->recipe();
  CHECK(recipe.watch == "exact_accuracy");
  CHECK(recipe.watch_ties == "lm_loss");
}

TEST_CASE("chat training: a network without causal attention is refused with the reason") {
  const ScratchFolder scratch;
  write_conversations(scratch / "chat", 1);
  const auto message = refusal_of(ErrorKind::Usage, [&] {
    trm::make_task(chat_request(scratch / "chat", {{"arch.causal", "false"}}));
  });
  CHECK(contains(message, "got arch.causal false, expected true"));
  CHECK(contains(message, "Write arch.causal=true"));
}

TEST_CASE(
    "chat training: warm-up steps take precedence over a share, unless only the share is a flag") {
  const auto schedule = [](const std::string& yaml, const char* key, const char* value) {
    engine::Request request;
    request.config = Config::from_text("data_paths: [a]\n" + yaml, "chat.yaml");
    request.config.set_environment({});
    request.config.set_flag(key, value);
    return trm::read_train_settings(request).recipe.schedule;
  };
  CHECK(schedule("warmup: 0.05\n", "lr_warmup_steps", "7").warmup_steps == 7);
  CHECK(schedule("warmup: 0.05\nlr_warmup_steps: 7\n", "lr", "1").warmup_steps == 7);
  CHECK_FALSE(schedule("lr_warmup_steps: 7\n", "warmup", "0.05").warmup_steps.has_value());
}

TEST_CASE("chat scores: means over tokens do not depend on the batch size") {
  const ScratchFolder scratch;
  write_conversations(scratch / "chat", 1);
  const auto set = data::read_puzzle_set(scratch / "chat", "train");
  const ChatSample sample(chat_config_of_48());
  const auto weights = sample.network.cast(at::kFloat);
  const auto examples = trm::spread_examples(set.examples(), 0);
  const auto score = [&](const std::vector<std::int64_t>& chosen, std::int64_t batch) {
    return trm::score_chat(sample.network, weights, set, chosen, batch,
                           [](std::int64_t) { return true; });
  };
  const auto whole = score(examples, 8);
  CHECK(whole.conversations == 8);
  CHECK(whole.rows == 8);
  CHECK(whole.perplexity() == doctest::Approx(std::exp(whole.token_loss)));
  CHECK(whole.token_loss > 4);  // about log(266): untrained
  double losses = 0, means = 0, right = 0;
  std::int64_t tokens = 0;
  for (const auto example : examples) {
    const auto one = score({example}, 1);
    CHECK(one.lm_loss == doctest::Approx(one.token_loss));
    losses += one.token_loss * static_cast<double>(one.tokens);
    right += one.accuracy * static_cast<double>(one.tokens);
    means += one.lm_loss / 8;
    tokens += one.tokens;
  }
  CHECK(whole.tokens == tokens);
  CHECK(whole.token_loss == doctest::Approx(losses / static_cast<double>(tokens)).epsilon(1e-5));
  CHECK(whole.accuracy == doctest::Approx(right / static_cast<double>(tokens)));
  CHECK(whole.lm_loss == doctest::Approx(means).epsilon(1e-5));
  CHECK(whole.lm_loss != doctest::Approx(whole.token_loss).epsilon(1e-6));
  CHECK(score(examples, 3).token_loss == doctest::Approx(whole.token_loss).epsilon(1e-5));
}

TEST_CASE("chat training: a run stopped before its first evaluation has its tokenizer") {
  const ScratchFolder scratch;
  write_conversations(scratch / "chat", 1);
  auto options = trm_train_options_in(scratch / "run");
  options.stop_requested = [] { return true; };
  auto task = trm::make_task(chat_request(scratch / "chat"));
  const auto result = engine::train(*task, trm_plan(), options);
  CHECK(result.interrupted);
  CHECK(read_file(engine::find_tokenizer(result.last_checkpoint) / "tokenizer.json") ==
        read_file(scratch / "chat/tokenizer/tokenizer.json"));
}

TEST_CASE("chat scores: a stopped evaluation has the scores so far") {
  const ScratchFolder scratch;
  write_conversations(scratch / "chat", 1);
  const auto set = data::read_puzzle_set(scratch / "chat", "train");
  const ChatSample sample(chat_config_of_48());
  std::int64_t rows_done = 0;
  const auto scores =
      trm::score_chat(sample.network, sample.network.cast(at::kFloat), set,
                      trm::spread_examples(set.examples(), 6), 2, [&](std::int64_t done) {
                        rows_done += done;
                        return rows_done < 4;
                      });
  CHECK(scores.stopped);
  CHECK(rows_done == 4);
  CHECK(scores.rows == 4);
  CHECK(scores.json()["conversations"] == 4);
}
