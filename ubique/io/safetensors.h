// SPDX-License-Identifier: Apache-2.0
// Everything about safetensors: SafetensorsFile, SafetensorsSet, write_safetensors,
// write_sharded_safetensors.
#pragma once

#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_set.h"
#include "ubique/io/tensors/safetensors_writer.h"
