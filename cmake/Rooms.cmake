# The house: rooms are OBJECT libraries (static registrations in archives get dropped by linkers),
# all linked into one libubique; backends are built in or plug-ins. Every folder is found, none listed.
include(Embed)
include(Unity)

set(UBIQUE_ROOM_LIBRARIES fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json yaml-cpp::yaml-cpp
  ZLIB::ZLIB PNG::PNG JPEG::JPEG Threads::Threads ${CMAKE_DL_LIBS})

# ubique_add_room(NAME [TORCH] [SOURCES extra...]): all .cpp of the calling folder and its sub-rooms,
# as ubique_NAME.
function(ubique_add_room name)
  cmake_parse_arguments(ROOM "TORCH" "" "SOURCES" ${ARGN})
  if(ROOM_TORCH AND NOT UBIQUE_TORCH)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(ubique_${name} OBJECT ${sources} ${ROOM_SOURCES})
  target_link_libraries(ubique_${name} PUBLIC ${UBIQUE_ROOM_LIBRARIES})
  if(ROOM_TORCH)
    ubique_use_torch(ubique_${name})
  else()
    ubique_use_plain_header(ubique_${name})
  endif()
  ubique_unite_by_folder(ubique_${name})
  set_property(GLOBAL APPEND PROPERTY UBIQUE_ROOMS ubique_${name})
endfunction()

# ubique_add_backend(NAME [PLUGIN] [SOURCES extra...]): vendor code. Built in, it defines ubique::backend::register_NAME();
# as a plug-in it becomes libubique_NAME.so and uses UBIQUE_REGISTER_PLUGIN.
function(ubique_add_backend name)
  cmake_parse_arguments(BACKEND "PLUGIN" "" "SOURCES" ${ARGN})
  if(NOT UBIQUE_TORCH)
    return()
  endif()
  if(NOT BACKEND_PLUGIN)
    ubique_add_room(backend_${name} TORCH SOURCES ${BACKEND_SOURCES})
    set_property(GLOBAL APPEND PROPERTY UBIQUE_BUILTIN_BACKENDS ${name})
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(ubique_backend_${name} MODULE ${sources})
  set_target_properties(ubique_backend_${name} PROPERTIES OUTPUT_NAME ubique_${name} SUFFIX ".so")
  target_compile_definitions(ubique_backend_${name} PRIVATE UBIQUE_BACKEND_NAME="${name}")
  target_link_libraries(ubique_backend_${name} PRIVATE ubique ${UBIQUE_ROOM_LIBRARIES})
  ubique_use_torch(ubique_backend_${name})
  ubique_unite_by_folder(ubique_backend_${name})
  ubique_set_rpath(ubique_backend_${name})
  set_property(GLOBAL APPEND PROPERTY UBIQUE_PLUGINS ubique_backend_${name})
endfunction()

# LibTorch with the shared precompiled header (23 s once instead of 20 s per file).
function(ubique_use_torch target)
  target_link_libraries(${target} PUBLIC Ubique::LibTorch)
  if(NOT TARGET ubique_pch)
    file(WRITE "${PROJECT_BINARY_DIR}/pch.cpp" "// exists to build the precompiled header\n")
    add_library(ubique_pch OBJECT "${PROJECT_BINARY_DIR}/pch.cpp")
    target_link_libraries(ubique_pch PRIVATE Ubique::LibTorch)
    target_precompile_headers(ubique_pch PRIVATE <ATen/ATen.h>)
  endif()
  ubique_compile_as_library(${target})
  target_precompile_headers(${target} REUSE_FROM ubique_pch)
endfunction()

# The same for targets without LibTorch: the standard library, fmt and JSON are most of what they parse.
function(ubique_use_plain_header target)
  if(NOT TARGET ubique_plain_pch)
    file(WRITE "${PROJECT_BINARY_DIR}/plain_pch.cpp" "// exists to build the precompiled header\n")
    add_library(ubique_plain_pch OBJECT "${PROJECT_BINARY_DIR}/plain_pch.cpp")
    target_link_libraries(ubique_plain_pch PRIVATE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
    target_precompile_headers(ubique_plain_pch PRIVATE <algorithm> <array> <cmath> <cstdint> <filesystem>
      <functional> <map> <memory> <optional> <span> <string> <string_view> <vector>
      <fmt/format.h> <nlohmann/json.hpp>)
  endif()
  ubique_compile_as_library(${target})
  target_precompile_headers(${target} REUSE_FROM ubique_plain_pch)
endfunction()

# Precompiled headers are compiled with -fPIC; programs must not ask for -fPIE, or they cannot use them.
function(ubique_compile_as_library target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

function(ubique_set_rpath target)
  if(APPLE)
    set(origin "@loader_path")
  else()
    set(origin "$ORIGIN")
  endif()
  set_target_properties(${target} PROPERTIES
    BUILD_RPATH "${origin};${origin}/../lib;${UBIQUE_TORCH_LIB}"
    INSTALL_RPATH "${origin};${origin}/../lib;${origin}/torch;${origin}/../lib/torch;${UBIQUE_TORCH_LIB}")
endfunction()

# ubique_add_program(NAME [TORCH] SOURCES...): a small program on the library, for benches and for tests
# that compare with others. With TORCH it is left out where LibTorch is.
function(ubique_add_program name)
  cmake_parse_arguments(PROGRAM "TORCH" "" "" ${ARGN})
  if(PROGRAM_TORCH AND NOT UBIQUE_TORCH)
    return()
  endif()
  add_executable(${name} ${PROGRAM_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ubique ${UBIQUE_ROOM_LIBRARIES})
  if(PROGRAM_TORCH)
    ubique_use_torch(${name})
  endif()
  if(UBIQUE_TORCH)
    ubique_set_rpath(${name})
  endif()
endfunction()

# Rooms, families and backends: every folder under ubique/ (two levels) that has a CMakeLists.txt,
# except cli.
function(ubique_add_rooms)
  file(GLOB lists CONFIGURE_DEPENDS ubique/*/CMakeLists.txt ubique/*/*/CMakeLists.txt)
  foreach(list IN LISTS lists)
    get_filename_component(folder "${list}" DIRECTORY)
    if(NOT folder MATCHES "/ubique/cli$")
      add_subdirectory("${folder}")
    endif()
  endforeach()
endfunction()

# ubique_add_library(NAME): the shared library of all rooms and families that were added so far.
function(ubique_add_library name)
  get_property(rooms GLOBAL PROPERTY UBIQUE_ROOMS)
  add_library(${name} SHARED)
  foreach(room IN LISTS rooms)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${room}>)
  endforeach()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0)
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_include_directories(${name} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${name} PUBLIC fmt::fmt nlohmann_json::nlohmann_json
    PRIVATE spdlog::spdlog yaml-cpp::yaml-cpp ZLIB::ZLIB PNG::PNG JPEG::JPEG Threads::Threads ${CMAKE_DL_LIBS})
  if(UBIQUE_TORCH)
    ubique_generate_registry(backends ${name} UBIQUE_BUILTIN_BACKENDS backend device register_builtin_backends)
    ubique_generate_registry(families ${name} UBIQUE_FAMILIES models engine register_builtin_families)
    target_sources(${name} PRIVATE "${backends}" "${families}")
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:Ubique::LibTorch>)
    ubique_set_rpath(${name})
  endif()
endfunction()

# ubique_add_cli_program(NAME LIBRARY): the command line on such a library.
function(ubique_add_cli_program name library)
  add_executable(${name} $<TARGET_OBJECTS:ubique_cli>)
  target_link_libraries(${name} PRIVATE ${library} CLI11::CLI11 ${UBIQUE_ROOM_LIBRARIES} Ubique::LibTorch)
  ubique_set_rpath(${name})
endfunction()

# A family: models/NAME/ as a room that defines ubique::models::register_NAME().
function(ubique_add_family name)
  ubique_add_room(models_${name} TORCH)
  if(UBIQUE_TORCH)
    set_property(GLOBAL APPEND PROPERTY UBIQUE_FAMILIES ${name})
  endif()
endfunction()

# The only files that name the built-in backends and the families, one each per LIBRARY: KIND is the
# namespace of their register_NAME functions, FUNCTION (in ROOM) the one that calls them all.
function(ubique_generate_registry out library property kind room function)
  get_property(names GLOBAL PROPERTY ${property})
  set(declarations "")
  set(calls "")
  foreach(name IN LISTS names)
    string(APPEND declarations "void register_${name}();\n")
    string(APPEND calls "  ${kind}::register_${name}();\n")
  endforeach()
  set(path "${PROJECT_BINARY_DIR}/generated/${library}_${function}.cpp")
  file(CONFIGURE OUTPUT "${path}" @ONLY CONTENT [[
// Generated by CMake from the folders of ubique/.
namespace ubique::@kind@ {
@declarations@}  // namespace ubique::@kind@

namespace ubique::@room@ {
void @function@() {
@calls@}
}  // namespace ubique::@room@
]])
  set(${out} "${path}" PARENT_SCOPE)
endfunction()
