// SPDX-License-Identifier: Apache-2.0
// Data files that CMake compiled into the program (cmake/Embed.cmake), so that it runs from
// anywhere.
#pragma once

#include <span>
#include <string_view>

namespace ubique::embedded {

struct EmbeddedFile {
  std::string_view name;  ///< file name without its folder
  std::string_view text;
};

std::span<const EmbeddedFile> profiles();      ///< ubique/device/profiles/*.yaml
std::span<const EmbeddedFile> report_parts();  ///< ubique/engine/run/page/*
std::span<const EmbeddedFile> cuda_sources();  ///< ubique/backend/cuda/sources/*

}  // namespace ubique::embedded
