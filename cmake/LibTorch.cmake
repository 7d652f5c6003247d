# Finds LibTorch and makes the target Ubique::LibTorch. Looked for in this order: TORCH_DIR (the
# torch folder, or the folder that holds it), CMAKE_PREFIX_PATH, the project's .deps, the active Python.
#
# Torch's own package file is not used: a CUDA wheel's find_package(Torch) fails where no CUDA
# toolkit is installed. Only libtorch_cpu and libc10 are linked; CUDA is loaded at run time.

set(TORCH_DIR "" CACHE PATH "Folder of a LibTorch (the wheel's torch/ or a LibTorch archive)")

function(_ubique_torch_root out)
  foreach(candidate IN LISTS ARGN)
    foreach(root IN ITEMS "${candidate}" "${candidate}/torch" "${candidate}/libtorch")
      if(EXISTS "${root}/include/ATen/core/Tensor.h")
        get_filename_component(root "${root}" ABSOLUTE)
        set(${out} "${root}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

if(TORCH_DIR)
  _ubique_torch_root(UBIQUE_TORCH_ROOT "${TORCH_DIR}")
  if(NOT UBIQUE_TORCH_ROOT)
    message(FATAL_ERROR
      "[cmake.libtorch] TORCH_DIR holds no LibTorch; got '${TORCH_DIR}', expected a folder with "
      "include/ATen/core/Tensor.h. Leave TORCH_DIR out to use .deps (run tools/setup).")
  endif()
else()
  _ubique_torch_root(UBIQUE_TORCH_ROOT ${CMAKE_PREFIX_PATH} "${CMAKE_CURRENT_LIST_DIR}/../.deps/python")
  if(NOT UBIQUE_TORCH_ROOT)
    find_program(UBIQUE_PYTHON NAMES python3 python)
    if(UBIQUE_PYTHON)
      # By package spec, not by import: importing torch only to print a path takes seconds.
      execute_process(
        COMMAND "${UBIQUE_PYTHON}" -c
          "import importlib.util as u; print(list(u.find_spec('torch').submodule_search_locations)[0])"
        OUTPUT_VARIABLE _from_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      _ubique_torch_root(UBIQUE_TORCH_ROOT "${_from_python}")
    endif()
  endif()
  if(NOT UBIQUE_TORCH_ROOT)
    message(FATAL_ERROR "[cmake.libtorch] no LibTorch found; expected one in .deps (run tools/setup), "
      "in the active Python, or named by -DTORCH_DIR=.")
  endif()
endif()

file(STRINGS "${UBIQUE_TORCH_ROOT}/include/torch/headeronly/version.h" _version
  REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" _version "${_version}")
string(REPLACE ";" "." UBIQUE_TORCH_VERSION "${_version}")
if(UBIQUE_TORCH_VERSION VERSION_LESS 2.11)
  message(FATAL_ERROR "[cmake.libtorch] LibTorch ${UBIQUE_TORCH_VERSION} in ${UBIQUE_TORCH_ROOT} is "
    "too old; expected 2.11 or newer. Run tools/setup, or name another with -DTORCH_DIR=.")
endif()
message(STATUS "LibTorch ${UBIQUE_TORCH_VERSION} in ${UBIQUE_TORCH_ROOT}")

set(UBIQUE_TORCH_LIB "${UBIQUE_TORCH_ROOT}/lib")
if(NOT TARGET Ubique::LibTorch)
  add_library(Ubique::LibTorch INTERFACE IMPORTED)
  # -idirafter: the wheel ships its own fmt and protobuf headers, which must not shadow the system's.
  target_compile_options(Ubique::LibTorch INTERFACE
    "SHELL:-idirafter ${UBIQUE_TORCH_ROOT}/include"
    "SHELL:-idirafter ${UBIQUE_TORCH_ROOT}/include/torch/csrc/api/include")
  target_link_libraries(Ubique::LibTorch INTERFACE
    "${UBIQUE_TORCH_LIB}/libtorch_cpu${CMAKE_SHARED_LIBRARY_SUFFIX}"
    "${UBIQUE_TORCH_LIB}/libc10${CMAKE_SHARED_LIBRARY_SUFFIX}")
  if(NOT APPLE)
    target_link_options(Ubique::LibTorch INTERFACE -Wl,--allow-shlib-undefined)
  endif()
endif()
