// SPDX-License-Identifier: Apache-2.0
// Everything about safetensors: SafetensorsFile, SafetensorsSet, write_safetensors,
// write_sharded_safetensors.
#pragma once

#include "ubique/io/safetensors_reader.h"
#include "ubique/io/safetensors_set.h"
#include "ubique/io/safetensors_writer.h"
