# Precompiled headers and the optimisation that goes with them, which a precompiled header fixes.
# Two thirds of the time of a file that includes LibTorch are optimisation, so it is spent where it
# pays: COLD code (what a command does once, what waits for LibTorch or a disk, tests) takes -O1.

# ubique_use_headers(TARGET [TORCH] [COLD])
function(ubique_use_headers target)
  cmake_parse_arguments(HEADERS "TORCH;COLD" "" "" ${ARGN})
  set(header ubique_pch)
  if(HEADERS_TORCH)
    target_link_libraries(${target} PUBLIC Ubique::LibTorch)
    string(APPEND header "_torch")
  endif()
  if(HEADERS_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
    string(APPEND header "_cold")
  endif()
  if(NOT TARGET ${header})
    ubique_add_header(${header} ${ARGN})
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # Precompiled headers are compiled with -fPIC; a program must not ask for -fPIE, or it cannot use them.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${header})
endfunction()

function(ubique_add_header name)
  file(WRITE "${PROJECT_BINARY_DIR}/${name}.cpp" "// exists to build the precompiled header\n")
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstdint> <filesystem>
    <functional> <map> <memory> <optional> <span> <string> <string_view> <vector>
    <fmt/format.h> <nlohmann/json.hpp>)
  if("TORCH" IN_LIST ARGN)
    target_link_libraries(${name} PRIVATE Ubique::LibTorch)
    target_precompile_headers(${name} PRIVATE <ATen/ATen.h> <torch/nn/module.h>)
  endif()
  if(name MATCHES "_cold$")
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()
