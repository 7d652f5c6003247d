# Unity builds by folder: the sources of one sub-room are compiled as one file, so that their headers
# are parsed once and a new file changes the batch of its own folder alone. (CMake's batches of N files
# are reshuffled by every new one.) Names in anonymous namespaces must be unique within a folder.
function(ubique_unite_by_folder target)
  if(NOT UBIQUE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" ABSOLUTE)
    get_filename_component(folder "${folder}" DIRECTORY)
    file(RELATIVE_PATH group "${PROJECT_SOURCE_DIR}" "${folder}")
    string(MAKE_C_IDENTIFIER "${group}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
