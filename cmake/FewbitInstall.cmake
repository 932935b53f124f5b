# Install rules and the CMake package: find_package(fewbit) gives the programs, the solver's
# libraries as fewbit::search and so on, and fewbit_add_activation().

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fewbit)
set(libraries base expression functions weights table search verify report)
list(TRANSFORM libraries PREPEND fewbit_)

install(TARGETS fewbit-solve fewbit-codegen ${libraries} EXPORT fewbit-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/solver DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fewbit
  FILES_MATCHING PATTERN "*.hpp" PATTERN "cli" EXCLUDE)
install(EXPORT fewbit-targets NAMESPACE fewbit:: DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fewbit)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fewbit-config.cmake.in
  ${PROJECT_BINARY_DIR}/fewbit-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fewbit-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/fewbit-config.cmake
  ${PROJECT_BINARY_DIR}/fewbit-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FewbitActivation.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FewbitKernels.cmake
  DESTINATION ${package_dir})
