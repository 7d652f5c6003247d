// SPDX-License-Identifier: Apache-2.0
// A code language model as a neutral operator graph with KV caches as inputs and outputs, for ONNX.
// Inputs and outputs have the names that Hugging Face's optimum gives them.
#pragma once

#include "ubique/engine/contract/graph.h"
#include "ubique/models/codelm/net/model.h"

namespace ubique::codelm {

/// Adapters are merged into the weights. Inputs: input_ids and position_ids (B, n), attention_mask
/// (B, p + n) with 0 for padding, past_key_values.N.key and .value (B, KV heads, p, size); outputs:
/// logits (B, n, V), present.N.key and .value. Usage error for quantised weights.
engine::GraphExport decoder_graph_export(CodelmModel& model);

}  // namespace ubique::codelm
