// SPDX-License-Identifier: Apache-2.0
// Score rows as a text table, as JSON and as CSV. Returns text; the caller writes it.
#pragma once

#include <span>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/msinet/score/metric_score.h"

namespace ubique::msinet {

/// One line per row, "-" where a metric is not defined.
std::string score_table(std::span<const ScoreRow> rows, Averaging averaging);

/// Means over images and over fixations, and every image; null where a metric is not defined.
Json scores_json(std::span<const ScoreRow> rows, const ScoreOptions& options);

/// One line per row and image; then one line per row with an empty image: the mean.
std::string scores_csv(std::span<const ScoreRow> rows, Averaging averaging);

}  // namespace ubique::msinet
