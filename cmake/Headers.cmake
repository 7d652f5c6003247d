# Precompiled headers, with and without LibTorch, and how much is optimised. Two thirds of the time of a
# file that includes LibTorch are optimisation, so it is spent where it pays: COLD code (what a command
# does once, what waits for LibTorch or a disk, tests) takes -O1. Both use the same precompiled header:
# it holds declarations, which -O does not change.

set(UBIQUE_COMMON_HEADERS algorithm array cmath cstdint filesystem functional map memory optional span
    string string_view vector fmt/format.h nlohmann/json.hpp)
set(UBIQUE_TORCH_HEADERS ATen/ATen.h torch/nn/module.h)

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
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # clang-tidy cannot read g++'s precompiled headers; it gets them as text, and so sees what g++ sees.
    set(headers ${UBIQUE_COMMON_HEADERS})
    if(HEADERS_TORCH)
      list(APPEND headers ${UBIQUE_TORCH_HEADERS})
    endif()
    list(TRANSFORM headers PREPEND "SHELL:-include ")
    target_compile_options(${target} PRIVATE ${headers})
  else()
    target_precompile_headers(${target} REUSE_FROM ${header})
  endif()
endfunction()

function(ubique_add_header name)
  file(WRITE "${PROJECT_BINARY_DIR}/${name}.cpp" "// exists to build the precompiled header\n")
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
  list(TRANSFORM UBIQUE_COMMON_HEADERS REPLACE "(.+)" "<\\1>" OUTPUT_VARIABLE headers)
  target_precompile_headers(${name} PRIVATE ${headers})
  if("TORCH" IN_LIST ARGN)
    target_link_libraries(${name} PRIVATE Ubique::LibTorch)
    list(TRANSFORM UBIQUE_TORCH_HEADERS REPLACE "(.+)" "<\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${name} PRIVATE ${headers})
  endif()
endfunction()
