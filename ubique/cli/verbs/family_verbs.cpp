// SPDX-License-Identifier: Apache-2.0
// The verbs that families implement entirely.
#include "ubique/cli/family_verb.h"

namespace ubique::cli {

Verb data_verb() {
  return family_verb("data", "make, look at and divide data sets",
                     "Generators need no download; the same seed gives the same data everywhere.",
                     {{"ubique data meshnet synth -o heads --count 24", "heads with lesions"}});
}

Verb evaluate_verb() {
  return family_verb("evaluate", "score a model on held-out data", "",
                     {{"ubique evaluate meshnet --model runs/lesion/checkpoints/best -d data/arc",
                       "per subject and on average"}});
}

Verb experiment_verb() {
  return family_verb(
      "experiment", "many training runs as one, resumable, with statistics", "",
      {{"ubique experiment meshnet -d data/arc -o experiments/mesh26", "folds times restarts"}});
}

Verb validate_verb() {
  return family_verb("validate", "compare results with published ones", "",
                     {{"ubique validate meshnet experiments/mesh26", "a parity report"}});
}

Verb run_verb() {
  return family_verb("run", "use a model on your own data", "",
                     {{"ubique run meshnet scans/ --model net.pt -o out", "segment a folder"}});
}

Verb demo_verb() {
  return family_verb("demo", "see a family work from nothing, in minutes",
                     "Makes data, trains a small model on the best device, uses it and says where "
                     "the results are.",
                     {{"ubique demo meshnet", "train on synthetic heads, segment one"},
                      {"ubique demo msinet", "train on synthetic scenes, draw where people look"}});
}

}  // namespace ubique::cli
