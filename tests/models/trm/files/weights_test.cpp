// SPDX-License-Identifier: Apache-2.0
// Import and export of the original system's weights.
#include "ubique/models/trm/files/weights.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/walk/open_model.h"

#include "tests/models/trm/train/training_samples.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/trm/use/open.h"

using namespace ubique;
using namespace ubique::test;

namespace {

trm::TrmConfig small_config() {
  trm::TrmConfig config;
  config.seq_len = 16;
  config.vocab_size = 6;
  config.num_puzzle_identifiers = 3;
  config.hidden_size = config.puzzle_emb_ndim = 16;
  config.num_heads = 2;
  config.expansion = 1;
  config.high_cycles = 2;
  config.low_cycles = 1;
  config.mlp_t = true;
  config.positions = trm::Positions::None;
  config.puzzle_emb_len = 2;
  config.halt_max_steps = 5;
  return config;
}

std::unique_ptr<trm::TrmModel> small_model(const trm::TrmConfig& config = small_config()) {
  auto model = std::make_unique<trm::TrmModel>(config);
  model->initialize(Random(4));
  if (model->trm().puzzle_table().defined()) {
    model->trm().puzzle_table().copy_(random_tensor(model->trm().puzzle_table().sizes(), 8));
  }
  return model;
}

void check_same_weights(trm::TrmModel& a, trm::TrmModel& b) {
  const auto ours = engine::state_dict(a.network()), theirs = engine::state_dict(b.network());
  REQUIRE(ours.size() == theirs.size());
  for (const auto& [name, value] : ours) {
    CAPTURE(name);
    CHECK(at::equal(value, engine::find_tensor(theirs, name)));
  }
}

/// As torch.save leaves a compiled model's averaged weights, with some names changed by `edit`.
void write_original(trm::TrmModel& model, const std::filesystem::path& path,
                    const std::function<void(std::vector<io::HostTensor>&)>& edit = {}) {
  std::vector<io::HostTensor> tensors;
  for (const auto& [name, value] : engine::state_dict(model.network())) {
    const bool start = name.ends_with("_init");
    tensors.push_back(engine::host_tensor_of("_orig_mod." + name,
                                             start ? value.to(at::kBFloat16) : value.detach()));
  }
  if (edit) edit(tensors);
  io::write_torch_file(path, tensors);
}

}  // namespace

TEST_CASE("trm weights: a compiled model's file and its all_config.yaml make the same network") {
  const ScratchFolder scratch;
  const auto model = small_model();
  write_original(*model, scratch / "step_10");
  write_file(scratch / "all_config.yaml",
             "arch:\n  name: recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1\n"
             "  H_cycles: 2\n  L_cycles: 1\n  L_layers: 2\n  H_layers: 0\n  hidden_size: 16\n"
             "  num_heads: 2\n  expansion: 1\n  halt_max_steps: 5\n  puzzle_emb_ndim: 16\n"
             "  puzzle_emb_len: 2\n  mlp_t: true\n  pos_encodings: none\n"
             "  forward_dtype: bfloat16\n  no_ACT_continue: true\n  halt_exploration_prob: 0.1\n"
             "  loss:\n    name: losses@ACTLossHead\n    loss_type: stablemax_cross_entropy\n"
             "global_batch_size: 768\nlr: 0.0001\n");
  CHECK(trm::looks_like_trm(scratch / "step_10"));
  const auto read = trm::load_any(scratch / "step_10");
  CHECK(read->settings() == model->settings());
  check_same_weights(*model, *read);
}

TEST_CASE("trm weights: without a configuration the shapes determine what they can") {
  const ScratchFolder scratch;
  auto config = small_config();
  config.puzzle_emb_len = 16;  // the original's value, which is assumed
  const auto model = small_model(config);
  write_original(*model, scratch / "step_10");
  const auto read = trm::load_any(scratch / "step_10");
  CHECK(read->settings().seq_len == 16);
  CHECK(read->settings().mlp_t);
  CHECK(read->settings().layers == 2);
  CHECK(read->settings().halt_max_steps == 16);
  check_same_weights(*model, *read);
}

TEST_CASE("trm weights: values that shapes do not determine and must be right are asked for") {
  const ScratchFolder scratch;
  const auto refused = [&](const trm::TrmConfig& config, const std::string& name) {
    write_original(*small_model(config), scratch / name);
    return refusal_of(ErrorKind::Input, [&] { trm::load_any(scratch / name); });
  };
  const auto message = refused(small_config(), "step_1");  // a prefix of 2 is not the original's
  CHECK(contains(message, "has no all_config.yaml beside it"));
  CHECK(contains(message, "puzzle_emb_len (of 18 positions)"));
  auto attention = small_config();
  attention.mlp_t = false;
  attention.positions = trm::Positions::Rope;
  CHECK(contains(refused(attention, "step_2"), "num_heads (of hidden_size 16)"));
}

TEST_CASE("trm weights: a .pt with its all_config.yaml keeps the kind and the grid of puzzles") {
  const ScratchFolder scratch;
  struct Kind {
    std::int64_t length, vocabulary;
    std::string kind;
    std::int64_t rows, cols;
  };
  int number = 0;
  for (const auto& [length, vocabulary, kind, rows, cols] :
       {Kind{16, 6, "sudoku", 0, 0}, Kind{36, 8, "sudoku", 0, 0}, Kind{96, 6, "maze", 8, 12}}) {
    for (const bool mixing : {true, false}) {
      auto config = small_config();
      config.seq_len = length;
      config.vocab_size = vocabulary;
      config.kind = kind;
      config.rows = rows;
      config.cols = cols;
      config.mlp_t = mixing;
      config.positions = mixing ? trm::Positions::None : trm::Positions::Rope;
      const auto folder = scratch / std::to_string(++number);
      std::filesystem::create_directories(folder);
      const auto model = small_model(config);
      trm::export_checked(*model, "pt", folder / "step_1", "_orig_mod.");
      const auto read = trm::load_any(folder / "step_1");
      CHECK(read->settings() == config);
      const auto layout = trm::layout_of(read->settings());
      CHECK(data::to_string(layout.kind) == kind);
      CHECK(layout.rows * layout.cols == length);
      CHECK((kind == "maze" ? layout.rows : 8) == 8);
      trm::export_checked(*read, "checkpoint", folder / "again", "");
      const auto again = engine::load_checkpoint(folder / "again", false);
      CHECK(trm::from_json(again.config, "again") == config);
    }
  }
}

TEST_CASE("trm weights: the original's forward_dtype is kept from file to file") {
  const ScratchFolder scratch;
  for (const std::string name : {"float32", "bfloat16"}) {
    const auto folder = scratch / name;
    for (const char* part : {"from", "to", "back"}) {
      std::filesystem::create_directories(folder / part);
    }
    write_original(*small_model(), folder / "from/step_1");
    write_file(folder / "from/all_config.yaml",
               "arch:\n  hidden_size: 16\n  num_heads: 2\n  expansion: 1\n  puzzle_emb_len: 2\n"
               "  mlp_t: true\n  pos_encodings: none\n  forward_dtype: torch." +
                   name + "\n");
    const auto read = trm::load_any(folder / "from/step_1");
    CHECK(read->settings().forward_dtype == name);
    trm::export_checked(*read, "pt", folder / "to/step_1", "");
    CHECK(contains(read_file(folder / "to/all_config.yaml"), "forward_dtype: " + name + "\n"));
    trm::export_checked(*read, "checkpoint", folder / "checkpoint", "");
    const auto opened = trm::open_trm(folder / "checkpoint");
    trm::export_checked(*opened, "pt", folder / "back/step_1", "");
    CHECK(read_file(folder / "back/all_config.yaml") == read_file(folder / "to/all_config.yaml"));
  }
  auto config = small_config();
  config.forward_dtype = "int7";
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::validate(config, ErrorKind::Input); }),
                 "forward_dtype is unknown; got 'int7'"));
}

TEST_CASE("trm weights: an all_config.yaml of another network is not overwritten or reused") {
  const ScratchFolder scratch;
  trm::export_checked(*small_model(), "pt", scratch / "step_1", "");
  trm::export_checked(*small_model(), "pt", scratch / "step_2", "");
  auto other = small_config();
  other.high_cycles = 3;
  CHECK(contains(
      refusal_of(ErrorKind::Usage,
                 [&] { trm::export_checked(*small_model(other), "pt", scratch / "step_3", ""); }),
      "H_cycles 2, expected 3"));
  CHECK_FALSE(std::filesystem::exists(scratch / "step_3"));
}

TEST_CASE("trm weights: a state dict of the original opens with its configuration") {
  const auto folder = shared_folder("golden/trm/att_learned");
  if (folder.empty()) return;
  CHECK(trm::looks_like_trm(folder / "state.safetensors"));
  // Its prefix is 4 tokens, the original's 16, and its heads are not the original's either.
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::load_any(folder / "state.safetensors"); }),
                 "num_heads (of hidden_size 64)"));
  const ScratchFolder scratch;
  std::filesystem::copy(folder / "state.safetensors", scratch / "state.safetensors");
  write_file(scratch / "all_config.yaml",
             "arch:\n  hidden_size: 64\n  num_heads: 4\n  puzzle_emb_len: 4\n"
             "  pos_encodings: learned\n");
  const auto read = trm::load_any(scratch / "state.safetensors");
  CHECK(read->settings().hidden_size == 64);
  CHECK(read->settings().positions == trm::Positions::Learned);
  CHECK(read->settings().length() == 20);
  const auto golden = read_tensors(folder / "state.safetensors");
  const auto ours = engine::state_dict(read->network());
  CHECK(golden.size() == ours.size());
  for (const auto& [name, value] : golden) {
    CHECK(at::equal(engine::find_tensor(ours, name), value.to(at::kFloat)));
  }
}

TEST_CASE("trm weights: every format is read back bit for bit") {
  const ScratchFolder scratch;
  for (const bool mixing : {true, false}) {
    auto config = small_config();
    if (!mixing) {
      config.mlp_t = false;
      config.positions = trm::Positions::Rope;
      config.puzzle_emb_ndim = config.puzzle_emb_len = 0;
      config.num_puzzle_identifiers = 1;
    }
    const auto model = small_model(config);
    const auto folder = scratch / (mixing ? "mlp" : "att");
    std::filesystem::create_directories(folder);
    trm::export_checked(*model, "safetensors", folder / "net.safetensors", "");
    trm::export_checked(*model, "pt", folder / "step_3", "_orig_mod.");
    trm::export_checked(*model, "checkpoint", folder / "checkpoint", "");
    CHECK(trm::load_any(folder / "net.safetensors")->settings() == config);
    const auto torch = trm::load_any(folder / "step_3");
    check_same_weights(*model, *torch);
    CHECK(torch->settings().num_heads == config.num_heads);
    CHECK(torch->settings().halt_max_steps == config.halt_max_steps);
    CHECK(engine::open_model(folder / "checkpoint", "trm")->config() == model->config());
    const auto names = io::list_torch_file(folder / "step_3");
    for (const auto& info : names) {
      CHECK(info.name.starts_with("_orig_mod.model.inner."));
      CHECK((info.dtype == DType::BF16) == info.name.ends_with("_init"));
    }
    refusal_of(ErrorKind::Usage, [&] { trm::export_checked(*model, "pt", folder / "step_3", ""); });
  }
}

TEST_CASE("trm weights: files of other networks are refused with the tensors' names") {
  const ScratchFolder scratch;
  auto config = small_config();
  config.puzzle_emb_len = 16;
  const auto model = small_model(config);
  int number = 0;
  const auto refused = [&](const std::function<void(std::vector<io::HostTensor>&)>& edit) {
    const auto path = scratch / ("step_" + std::to_string(++number));
    write_original(*model, path, edit);
    return refusal_of(ErrorKind::Input, [&] { trm::load_any(path); });
  };
  const auto erase = [](const char* part) {
    return [part](std::vector<io::HostTensor>& tensors) {
      std::erase_if(tensors, [&](const auto& tensor) { return contains(tensor.name, part); });
    };
  };
  CHECK(contains(refused(erase("q_head.bias")), "q_head.bias"));
  CHECK(contains(refused(erase("embed_tokens")), "is not a TRM"));
  CHECK(contains(refused([](auto& tensors) {
                   auto other = tensors.back();
                   other.name = "_orig_mod.model.inner.H_level.layers.0.mlp.down_proj.weight";
                   tensors.push_back(other);
                 }),
                 "H_level"));
  CHECK(contains(refused([](auto& tensors) {
                   for (auto& tensor : tensors) {
                     if (!contains(tensor.name, "lm_head")) continue;
                     tensor.shape = {tensor.shape[1], tensor.shape[0]};
                   }
                 }),
                 "lm_head"));
  write_file(scratch / "text", "no weights at all, only words that go on for a while");
  CHECK_FALSE(trm::looks_like_trm(scratch / "text"));
  refusal_of(ErrorKind::Input, [&] { trm::load_any(scratch / "text"); });
  refusal_of(ErrorKind::Input, [&] { trm::load_any(scratch / "nowhere"); });
}

TEST_CASE("trm weights: a configuration larger than its file is refused before it is allocated") {
  const ScratchFolder scratch;
  const auto model = small_model();
  trm::export_checked(*model, "checkpoint", scratch / "whole", "");
  int number = 0;
  const auto refused = [&](const std::string& key, std::int64_t value) {
    auto checkpoint = engine::load_checkpoint(scratch / "whole", false);
    checkpoint.config[key] = value;
    const auto path = scratch / ("lie_" + std::to_string(++number));
    engine::save_checkpoint(path, checkpoint);
    return refusal_of(ErrorKind::Input, [&] { engine::open_model(path, "trm"); });
  };
  CHECK(contains(refused("vocab_size", 1 << 28), "describes another network than the tensors"));
  CHECK(contains(refused("num_puzzle_identifiers", 1 << 30), "describes another network"));
  CHECK(contains(refused("seq_len", 1 << 20), "describes another network"));
  CHECK(contains(refused("vocab_size", 7), "embed_tokens"));  // a small lie: the tensor is named
  CHECK(contains(refused("halt_max_steps", 1000000), "got 1000000, expected 1 to 10000"));
  CHECK(contains(refused("H_cycles", 60000), "got 60000, expected 1 to 1000"));
  CHECK(trm::stored_count(model->settings()) == [&] {
    std::int64_t numbers = 0;
    for (const auto& [name, value] : engine::state_dict(model->network())) numbers += value.numel();
    return numbers;
  }());

  write_original(*model, scratch / "step_10");
  write_file(scratch / "all_config.yaml",
             "arch:\n  hidden_size: 65536\n  num_heads: 2\n  puzzle_emb_len: 2\n"
             "  mlp_t: true\n  pos_encodings: none\n");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { trm::load_any(scratch / "step_10"); }),
                 "describes another network than the tensors"));
}

TEST_CASE("trm weights: a table of another size starts as the mean of the old rows") {
  const auto model = small_model();
  auto config = small_config();
  config.num_puzzle_identifiers = 5;
  const auto grown = trm::with_weights_of(config, *model, "a file");
  const auto mean = model->trm().puzzle_table().mean(0);
  for (std::int64_t row = 0; row < 5; ++row) {
    CHECK(at::equal(grown->trm().puzzle_table()[row], mean));
  }
  config = small_config();
  config.hidden_size = 32;
  const auto message =
      refusal_of(ErrorKind::Input, [&] { trm::with_weights_of(config, *model, "a file"); });
  CHECK(contains(message, "hidden_size 16, expected 32"));
  config.hidden_size = 8;
  config.puzzle_emb_len = 1;  // the file's rows of 16 do not even fit
  const auto smaller =
      refusal_of(ErrorKind::Input, [&] { trm::with_weights_of(config, *model, "a file"); });
  CHECK(contains(smaller, "hidden_size 16, expected 8; puzzle_emb_len 2, expected 1"));
}
