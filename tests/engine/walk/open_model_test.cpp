// SPDX-License-Identifier: Apache-2.0
// Families by name, models by whatever their files are.
#include <ATen/ATen.h>
#include <sys/stat.h>
#include <torch/nn/module.h>

#include <fstream>

#include "tests/engine/runs.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/walk/open_model.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

class ToyFamily final : public Family {
 public:
  std::string name() const override { return "toy"; }
  std::string summary() const override { return "for tests"; }
  std::vector<Command> commands() const override { return {}; }
  TrainCommand train_command() const override { return {}; }
  std::unique_ptr<Model> configure(const Config&) const override {
    return std::make_unique<ToyModel>();
  }
  std::unique_ptr<Model> build(const Json& config, const NamedTensors&) const override {
    return std::make_unique<ToyModel>(ToyOptions{.dropout = config["dropout"].get<double>()});
  }
  std::unique_ptr<Task> task(const Request&) const override {
    return std::make_unique<ToyTask>(Recipe{});
  }
  bool recognizes(const std::filesystem::path& path) const override {
    return path.extension() == ".toy";
  }
  std::unique_ptr<Model> import_model(const std::filesystem::path&) const override {
    return std::make_unique<ToyModel>();
  }
  std::vector<Format> formats() const override { return {}; }
};

void register_toy() {
  static const bool kOnce = (register_family(std::make_unique<ToyFamily>()), true);
  (void)kOnce;
}

}  // namespace

TEST_CASE("registry: families are found by name, and a name is taken once") {
  register_toy();
  CHECK(find_family("toy").summary() == "for tests");
  CHECK(contains(refusal_of(ErrorKind::Usage, [] { find_family("toi"); }), "Did you mean 'toy'?"));
  refusal_of(ErrorKind::Internal, [] { register_family(std::make_unique<ToyFamily>()); });
}

TEST_CASE("open: a checkpoint opens as the model it describes, with its weights") {
  register_toy();
  const ScratchFolder scratch;
  ToyTask task(toy_recipe(1));
  const auto result = train(task, toy_plan(), toy_options(scratch / "run"));
  const auto model = open_model(result.last_checkpoint);
  CHECK(model->initialized());
  CHECK(model->config() == task.toy.config());
  const auto weights = find_tensor(state_dict(model->network()), "first_weight");
  CHECK(at::equal(weights, task.toy.toy().first.cpu()));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { open_model(result.last_checkpoint, "other"); }),
                 "got toy, expected other"));
  CHECK(model_path(scratch / "run") == scratch / "run/checkpoints/best");  // a run is its best
  CHECK(open_model(scratch / "run")->config() == task.toy.config());
  CHECK(model_path("") == "");
}

TEST_CASE("open: without a path, the newest run of the family that was named is taken") {
  register_toy();
  const ScratchFolder scratch;
  const auto runs = scratch / "runs";
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { newest_model(runs, ""); }), "no run in"));
  ToyTask first(toy_recipe(1)), second(toy_recipe(1));
  train(first, toy_plan(), toy_options(runs / "older"));
  train(second, toy_plan(), toy_options(runs / "newer"));
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(runs / "older/checkpoints/best", now - std::chrono::hours(1));
  std::filesystem::last_write_time(runs / "newer/checkpoints/best", now);
  CHECK(newest_model(runs, "") == runs / "newer/checkpoints/best");
  CHECK(newest_model(runs, "toy") == runs / "newer/checkpoints/best");
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { newest_model(runs, "meshnet"); }),
                 "no run of meshnet"));
  std::filesystem::create_directories(runs / "broken/checkpoints/best");  // not a checkpoint
  CHECK(newest_model(runs, "toy") == runs / "newer/checkpoints/best");
}

TEST_CASE("open: other files go to the family that recognizes them, or are refused") {
  register_toy();
  const ScratchFolder scratch;
  std::ofstream(scratch / "a.toy") << "weights";
  std::ofstream(scratch / "a.txt") << "words";
  CHECK(open_model(scratch / "a.toy", "toy")->initialized());
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { open_model(scratch / "a.txt"); }),
                 "got a file of unknown kind, expected"));
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { open_model(scratch / "none"); }),
                 "does not exist"));
}

TEST_CASE("state dict: another network's tensors are refused by name or shape") {
  ToyModel model;
  auto tensors = state_dict(model.network());
  tensors.front().second = at::zeros({3, 3});
  CHECK(contains(
      refusal_of(ErrorKind::Input, [&] { load_state(model.network(), tensors, "a file"); }),
      "tensor first_weight has shape (3, 3), expected (8, 6)"));
  tensors.erase(tensors.begin());
  CHECK(contains(
      refusal_of(ErrorKind::Input, [&] { load_state(model.network(), tensors, "a file"); }),
      "1 missing tensor, e.g. first_weight"));
  tensors.emplace_back("first_weight", at::zeros({8, 6}));
  tensors.emplace_back("extra", at::zeros({1}));
  CHECK(contains(
      refusal_of(ErrorKind::Input, [&] { load_state(model.network(), tensors, "a file"); }),
      "1 unknown tensor, e.g. extra"));
}

TEST_CASE("state dict: a described network far larger than what is stored is refused") {
  const NamedTensors stored = {{"weight", at::zeros({10})}};
  check_stored_size(0, stored, "a file");
  check_stored_size(1000, stored, "a file");  // load_state() names the difference
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [&] { check_stored_size(std::int64_t{1} << 40, stored, "a file"); }),
                 "got one of 1099511627776 numbers, expected one of the 10 that are stored"));
}

TEST_CASE("state dict: a network moves in layout and dtype, its values do not") {
  struct Conv : torch::nn::Module {
    Conv() {
      weight = register_parameter("weight", at::arange(48, at::kFloat).reshape({2, 3, 2, 2, 2}));
    }
    at::Tensor weight;
  } network;
  const auto before = network.weight.detach().clone();
  auto plan = toy_plan();
  plan.memory_format.value = probe::Layout::ChannelsLast;
  move_network(network, plan, c10::Device(c10::kCPU));
  CHECK(network.weight.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  CHECK(at::equal(network.weight, before));
  plan.dtype.value = DType::F64;
  move_network(network, plan, c10::Device(c10::kCPU));
  CHECK((network.weight.scalar_type() == at::kDouble));
}

TEST_CASE("open: a pipe is refused at once instead of waiting for a writer") {
  const ScratchFolder scratch;
  const auto pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { open_model(pipe); }), "is a pipe or a device"));
}
