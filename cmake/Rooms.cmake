# The house: rooms are OBJECT libraries (static registrations in archives get dropped by linkers),
# all linked into one libubique; backends are built in or plug-ins. Every folder is found, none listed.
include(Embed)
include(Headers)
include(Unity)

set(UBIQUE_ROOM_LIBRARIES fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json yaml-cpp::yaml-cpp
  ZLIB::ZLIB PNG::PNG JPEG::JPEG Threads::Threads ${CMAKE_DL_LIBS})

# ubique_add_room(NAME [TORCH] [SOURCES extra...] [COLD sub-rooms...]): all .cpp of the calling folder
# and its sub-rooms, as ubique_NAME; COLD sub-rooms (see Headers.cmake; "." is all) as ubique_NAME_cold.
function(ubique_add_room name)
  cmake_parse_arguments(ROOM "TORCH" "" "SOURCES;COLD" ${ARGN})
  if(ROOM_TORCH AND NOT UBIQUE_TORCH)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(APPEND sources ${ROOM_SOURCES})
  set(torch "")
  if(ROOM_TORCH)
    set(torch TORCH)
  endif()
  if(ROOM_COLD STREQUAL ".")
    ubique_add_objects(${name} UBIQUE_COLD_ROOMS SOURCES ${sources} HEADERS ${torch} COLD)
    return()
  endif()
  if(ROOM_COLD)
    string(JOIN "|" folders ${ROOM_COLD})
    set(cold ${sources})
    list(FILTER cold INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/(${folders})/")
    list(REMOVE_ITEM sources ${cold})
    ubique_add_objects(${name}_cold UBIQUE_COLD_ROOMS SOURCES ${cold} HEADERS ${torch} COLD)
  endif()
  ubique_add_objects(${name} UBIQUE_ROOMS SOURCES ${sources} HEADERS ${torch})
endfunction()

function(ubique_add_objects name rooms)
  cmake_parse_arguments(OBJECTS "" "" "SOURCES;HEADERS" ${ARGN})
  if(NOT OBJECTS_SOURCES)
    return()
  endif()
  add_library(ubique_${name} OBJECT ${OBJECTS_SOURCES})
  target_link_libraries(ubique_${name} PUBLIC ${UBIQUE_ROOM_LIBRARIES})
  ubique_use_headers(ubique_${name} ${OBJECTS_HEADERS})
  ubique_unite_by_folder(ubique_${name})
  set_property(GLOBAL APPEND PROPERTY ${rooms} ubique_${name})
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
  ubique_use_headers(ubique_backend_${name} TORCH COLD)
  ubique_unite_by_folder(ubique_backend_${name})
  ubique_set_rpath(ubique_backend_${name})
  set_property(GLOBAL APPEND PROPERTY UBIQUE_PLUGINS ubique_backend_${name})
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
    ubique_use_headers(${name} TORCH)
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

# ubique_add_library(NAME): the shared library of all rooms and families that were added so far. Cold
# ones come last: of an inline function that stands in several objects, linkers keep the first.
function(ubique_add_library name)
  get_property(rooms GLOBAL PROPERTY UBIQUE_ROOMS)
  get_property(cold_rooms GLOBAL PROPERTY UBIQUE_COLD_ROOMS)
  add_library(${name} SHARED)
  foreach(room IN LISTS rooms cold_rooms)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${room}>)
  endforeach()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0)
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_include_directories(${name} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${name} PUBLIC fmt::fmt nlohmann_json::nlohmann_json
    PRIVATE spdlog::spdlog yaml-cpp::yaml-cpp ZLIB::ZLIB PNG::PNG JPEG::JPEG Threads::Threads ${CMAKE_DL_LIBS}
    $<BUILD_INTERFACE:ubique_sndfile> $<BUILD_INTERFACE:ubique_web_server>)
  if(UBIQUE_TORCH)
    ubique_generate_registry(backends ${name} UBIQUE_BUILTIN_BACKENDS backend device register_builtin_backends)
    ubique_generate_registry(families ${name} UBIQUE_FAMILIES models engine register_builtin_families)
    target_sources(${name} PRIVATE "${backends}" "${families}")
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:Ubique::LibTorch>)
    ubique_set_rpath(${name})
  endif()
endfunction()

# ubique_add_cli_program(NAME LIBRARY): the command line on such a library, as NAME_cli; and a program
# without LibTorch that loads it (cli/start says why).
function(ubique_add_cli_program name library)
  add_library(${name}_cli SHARED $<TARGET_OBJECTS:ubique_cli>)
  target_link_libraries(${name}_cli PRIVATE ${library} CLI11::CLI11 ${UBIQUE_ROOM_LIBRARIES} Ubique::LibTorch)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/ubique/cli/start/main.cpp")
  target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
  set(folder "$<IF:$<PLATFORM_ID:Darwin>,@rpath/,>")
  target_compile_definitions(${name} PRIVATE UBIQUE_IS_MAC=$<PLATFORM_ID:Darwin>
    UBIQUE_CLI_LIBRARY="${folder}$<TARGET_FILE_NAME:${name}_cli>")
  add_dependencies(${name} ${name}_cli)
  ubique_set_rpath(${name}_cli)
  ubique_set_rpath(${name})
endfunction()

# A family: models/NAME/ as a room that defines ubique::models::register_NAME().
function(ubique_add_family name)
  ubique_add_room(models_${name} TORCH COLD files train commands)
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
