// SPDX-License-Identifier: Apache-2.0
// The table of the original's arguments.
#include "ubique/models/acestep/train/original_keys.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::acestep {
namespace {

enum class ArgumentUse {
  Setting,    // the value of our key `text`
  Only,       // has one possible value, `text`
  Refused,    // cannot be done; `why` says what to do instead
  Elsewhere,  // is decided otherwise here: `why`
};

struct OriginalArgument {
  const char* key;
  ArgumentUse use;
  const char* text;
  const char* why = "";
};

// epochs, max_steps and shift have the same names here; precision, num_workers and
// accumulate_grad_batches are read by the plan.
const OriginalArgument kArguments[] = {
    {"learning_rate", ArgumentUse::Setting, "lr"},
    {"every_n_train_steps", ArgumentUse::Setting, "checkpoint_every"},
    {"dataset_path", ArgumentUse::Setting, "data"},
    {"checkpoint_dir", ArgumentUse::Setting, "model"},
    {"lora_config_path", ArgumentUse::Setting, "lora_config"},
    {"gradient_clip_val", ArgumentUse::Setting, "clip_norm"},
    {"ssl_coeff", ArgumentUse::Setting, "ssl_coefficient"},
    {"repeat_count", ArgumentUse::Setting, "repeat"},
    {"gradient_clip_algorithm", ArgumentUse::Only, "norm", "gradients are clipped by their norm"},
    {"num_nodes", ArgumentUse::Only, "1", "a run is one process"},
    {"devices", ArgumentUse::Only, "1", "a run is one process with one device"},
    {"ckpt_path", ArgumentUse::Refused, "",
     "checkpoints of the original's trainer hold its optimizer; give the adapter with --adapter "
     "and "
     "train on, or --resume a run of ours"},
    {"logger_dir", ArgumentUse::Elsewhere, "", "the run's folder, -o"},
    {"exp_name", ArgumentUse::Elsewhere, "", "the run's folder, -o"},
    {"every_plot_step", ArgumentUse::Elsewhere, "", "--validate-every, in epochs"},
    {"val_check_interval", ArgumentUse::Elsewhere, "", "--validate-every, in epochs"},
    {"reload_dataloaders_every_n_epochs", ArgumentUse::Elsewhere, "",
     "every epoch has an order of its own"},
};

void check_argument(const Config& config, const OriginalArgument& row) {
  const auto value = config.find<std::string>(row.key);
  if (!value) return;
  check(row.use != ArgumentUse::Refused, ErrorKind::Usage,
        "[acestep.settings] {}: {} has no counterpart; got '{}'. Instead: {}.",
        config.where(row.key), row.key, printable(*value), row.why);
  check(row.use != ArgumentUse::Only || lowercase(*value) == row.text, ErrorKind::Usage,
        "[acestep.settings] {}: {} has no counterpart; got '{}', expected {}: {}.",
        config.where(row.key), row.key, printable(*value), row.text, row.why);
}

}  // namespace

void adopt_original_keys(Config& config) {
  std::vector<std::string> others;
  for (const auto& row : kArguments) {
    config.expect(row.key);
    check_argument(config, row);
    if (row.use == ArgumentUse::Setting) config.adopt(row.text, row.key);
    if (row.use == ArgumentUse::Elsewhere && config.has(row.key)) {
      others.push_back(fmt::format("{} ({})", row.key, row.why));
    }
  }
  if (!others.empty()) log::info("decided otherwise here: {}", join(others, ", "));
}

}  // namespace ubique::acestep
