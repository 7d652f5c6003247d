// SPDX-License-Identifier: Apache-2.0
// Device, task, plan, loop: in this order, each once.
#include "ubique/engine/walk/train_walk.h"

#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/dist/world.h"
#include "ubique/engine/run/run_yaml.h"
#include "ubique/engine/session/rank_wishes.h"
#include "ubique/plan/needs.h"

namespace ubique::engine {
namespace {

/// The older projects' switch: off means f32, on prefers half precision where the device does it
/// well.
void apply_fp16_switch(const Config& config, plan::Wishes& wishes) {
  const auto fp16 = config.find<bool>("fp16");
  if (!fp16 || wishes.dtype) return;
  wishes.prefers_half = *fp16;
  if (*fp16) return;
  wishes.dtype = DType::F32;
  wishes.dtype_reason = "as --no-fp16 asks";
}

TrainOptions read_train_options(const Request& request) {
  const auto& config = request.config;
  TrainOptions options;
  options.folder = request.output;
  options.resume = config.get("resume", false);
  options.resume_from = config.get<std::string>("resume_from", "");
  options.progress = request.progress;
  options.log_every = config.get<std::int64_t>("log_every", 10);
  options.stop_requested = request.stop_requested;
  return options;
}

/// A resumed run takes the settings given now: says which ones differ from before. A damaged
/// run.yaml does not stop it: the checkpoint has all that is needed, the model's settings too.
void warn_of_changes(const TrainOptions& options) {
  const auto path = options.folder / "run.yaml";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  try {
    const auto before = read_file(path);
    check(!trim(before).empty(), ErrorKind::Input, "[engine.train] the file is empty.");
    const auto changes = changed_settings(before, options.configuration);
    if (changes.empty()) return;
    log::warn("[engine.train] this run had other settings before: {}", join(changes, "; "));
  } catch (const Error& error) {
    log::warn(
        "[engine.train] {} is damaged; got \"{}\". The run goes on from its checkpoint with the "
        "settings given now, which cannot be compared with those before; the file is written anew.",
        path.string(), error.what());
  }
}

void check_processes(const Session& session, const dist::Place& place,
                     const device::Selection& device, bool dry_run) {
  const auto processes = std::max(session.wishes.world_size, place.size);
  check(processes <= 1 || device.facts.kind != device::Kind::Mps, ErrorKind::Device,
        "[engine.train] Distributed training is not supported on MPS. Please use CUDA or run on a "
        "single device. Got {} processes, expected 1.",
        processes);
  check(processes == place.size || dry_run, ErrorKind::Usage,
        "[engine.train] --world-size is not the number of processes; got {}, but {} {} started. "
        "Start them with `ubique launch -n {} -- train ...`, torchrun, srun or mpirun.",
        processes, place.size, place.size == 1 ? "was" : "were", processes);
}

/// The other ranks hear why one ends.
template <typename Work>
void with_others(const Work& work) {
  const auto& world = dist::world();
  try {
    work();
    world.gather("done");  // its files are there for all
  } catch (const std::exception& error) {
    world.leave(fmt::format("rank {} ended: {}", world.rank(), error.what()));
    throw;
  }
}

}  // namespace

std::vector<Option> recipe_options() {
  return in_group(
      kTrainingGroup,
      {
          {"-e,--epochs", "epochs", "N", "times through the training set"},
          {"--max-steps", "max_steps", "N",
           "updates in all; the schedule ends there too (but see --schedule-steps)"},
          {"--optimizer", "optimizer", "NAME", join(plan::optimizer_names(), ", ")},
          {"--lr", "lr", "RATE", "learning rate (its peak, with a schedule)"},
          {"--weight-decay,--wd", "weight_decay", "X", "decoupled weight decay"},
          {"--schedule", "schedule", "NAME", "constant, linear, onecycle, cosine or plateau"},
          {"--schedule-steps", "schedule_steps", "N",
           "length of the schedule; 0 = the whole run (0)"},
          {"--warmup", "warmup", "SHARE", "share of all steps in which the rate rises"},
          {"--div-factor", "div_factor", "X",
           "onecycle: the first rate is the peak divided by this"},
          {"--clip-norm", "clip_norm", "X", "clip gradients to this norm; 0 = never"},
          {"--ema", "ema", "DECAY", "averaged weights; 0 = none"},
          {"--watch", "watch", "NAME", "score that decides about the best epoch and an early stop"},
          {"--patience", "patience", "N",
           "epochs without a better score before stopping; 0 = never"},
          {"--min-delta", "min_delta", "X", "a score is better if it is so by more than this (0)"},
          {"--validate-every", "validate_every", "N", "epochs between validations"},
          {"--checkpoint-every", "checkpoint_every", "N",
           "steps between kept checkpoints; 0 = none"},
          {"--keep", "keep", "N", "kept step-N checkpoints at most"},
          {"--max-bad-steps", "max_bad_steps", "N", "non-finite updates in a row before giving up"},
          {"--seed", "seed", "N", "of weights, shuffles and augmentation"},
          {"--log-every", "log_every", "N", "steps between lines of metrics"},
          {"--resume", "resume", "", "go on where the run in the output folder stopped"},
          {"--resume-from", "resume_from", "PATH", "go on from this checkpoint"},
          {"--fp16,!--no-fp16", "fp16", "", "half precision where the device does it well (on)"},
          {"--model,--checkpoint", "model", "PATH",
           "start from these weights: a run, a checkpoint or an importable file"},
          {"--dry-run", "dry_run", "", "print the plan and stop"},
      });
}

void adopt_keys(const TrainCommand& command, Config& config) {
  config.expect("model");  // in other programs' files a section has this name
  if (command.adopt) command.adopt(config);
}

Trained train_walk(Session& session, Request request, const MakeTask& make_task) {
  auto options = read_train_options(request);
  Trained trained;
  trained.dry_run = request.config.get("dry_run", false);
  apply_fp16_switch(request.config, session.wishes);
  request.model = request.config.get<std::string>("model", "");
  const auto place = dist::read_place(dist::process_environment);
  share_machine(place, session.wishes);
  const auto& device = session.device();
  check_processes(session, place, device, trained.dry_run);
  session.wishes.world_size = std::max(session.wishes.world_size, place.size);
  request.device = device.facts.backend;

  // Before the data are read: a rank that has none tells the others at once.
  if (!trained.dry_run) dist::join(place);
  with_others([&] {
    trained.task = make_task(request);
    request.config.finish();
    options.configuration = run_yaml(request.config.resolved());
    session.start(trained.task->model().needs());
    if (options.resume) warn_of_changes(options);
    if (trained.dry_run) return;
    log::info("{} into {}", session.plan().needs, options.folder.string());
    if (place.size > 1) log::info("{} processes, started by {}", place.size, place.launcher);
    trained.result = train(*trained.task, session, options);
  });
  return trained;
}

}  // namespace ubique::engine
