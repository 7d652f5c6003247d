# `cmake --install`: program, library, plug-ins, headers, a CMake package and (by default) LibTorch's
# CPU libraries, in one tree that can be moved anywhere.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Ubique")

install(TARGETS ubique_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS ubique_program_cli LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS ubique EXPORT UbiqueTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
get_property(plugins GLOBAL PROPERTY UBIQUE_PLUGINS)
if(plugins)
  install(TARGETS ${plugins} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/ubique" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE PATTERN "backend" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/configs" "${PROJECT_SOURCE_DIR}/models"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/ubique" OPTIONAL)
# Pages that `make web` has built; `ubique export --format web` copies them.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/build/web/segment" "${PROJECT_SOURCE_DIR}/build/web/saliency"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/ubique/web" OPTIONAL)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT UbiqueTargets NAMESPACE Ubique:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/UbiqueConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/UbiqueConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/UbiqueConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/UbiqueConfig.cmake" "${PROJECT_BINARY_DIR}/UbiqueConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/LibTorch.cmake" DESTINATION "${package_dir}")

# Manual page and completions come from the program itself.
install(CODE "
  set(program \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/ubique\")
  function(write_from_program folder name)
    file(MAKE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
    execute_process(COMMAND \"\${program}\" \${ARGN} OUTPUT_FILE \"\${CMAKE_INSTALL_PREFIX}/\${folder}/\${name}\"
      COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  if(\"\$ENV{DESTDIR}\" STREQUAL \"\")
    write_from_program(${CMAKE_INSTALL_MANDIR}/man1 ubique.1 man)
    write_from_program(${CMAKE_INSTALL_DATADIR}/bash-completion/completions ubique completions bash)
    write_from_program(${CMAKE_INSTALL_DATADIR}/zsh/site-functions _ubique completions zsh)
    write_from_program(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ubique.fish completions fish)
  endif()")

if(UBIQUE_BUNDLE_TORCH)
  # What libtorch_cpu itself needs beyond the system: the OpenMP runtime, and of a CUDA wheel the two
  # small CUDA libraries that its CPU half is linked against.
  file(GLOB torch_libraries
    "${UBIQUE_TORCH_LIB}/libtorch_cpu${CMAKE_SHARED_LIBRARY_SUFFIX}"
    "${UBIQUE_TORCH_LIB}/libc10${CMAKE_SHARED_LIBRARY_SUFFIX}"
    "${UBIQUE_TORCH_LIB}/libgomp*${CMAKE_SHARED_LIBRARY_SUFFIX}*"
    "${UBIQUE_TORCH_LIB}/libomp*${CMAKE_SHARED_LIBRARY_SUFFIX}*"
    "${UBIQUE_TORCH_ROOT}/../nvidia/cu13/lib/libcudart.so.*"
    "${UBIQUE_TORCH_ROOT}/../nvidia/cu13/lib/libcupti.so.*")
  install(FILES ${torch_libraries} DESTINATION "${CMAKE_INSTALL_LIBDIR}/torch")
endif()
