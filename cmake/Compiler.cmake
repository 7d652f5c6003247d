# Language level, warnings, output folders and sanitizers, the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_compile_options(-Wall -Wextra -Wno-unknown-pragmas)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns falsely about every "literal" + std::string (its bug 105651).
  add_compile_options(-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
include_directories("${PROJECT_SOURCE_DIR}")
if(UBIQUE_SANITIZE)
  add_compile_options(-fsanitize=${UBIQUE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${UBIQUE_SANITIZE})
endif()

if(UBIQUE_FUZZ)
  # Every target must report which branches it takes, or the fuzzer searches blindly; all of them,
  # because they share a precompiled header.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(UBIQUE_CCACHE ccache)
if(UBIQUE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these ccache gives up on every file that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${UBIQUE_CCACHE}")
endif()
