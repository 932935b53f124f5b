# Install rules and the CMake package: find_package(fewbit) gives the programs, the solver's
# libraries as fewbit::search and so on, and fewbit_add_activation(); its component `runtime` adds
# libtorch as fewbit::torch and our library for it, fewbit::runtime.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fewbit)
set(libraries base expression functions weights table search verify proven report)
list(TRANSFORM libraries PREPEND fewbit_)

# By itself `cmake --install` builds nothing, and of a tree where one program was wanted
# (scripts/run) the others are missing. It is the first rule, so that what follows finds its files.
add_custom_target(fewbit_installed)
add_dependencies(fewbit_installed fewbit-solve fewbit-codegen ${libraries} fewbit_solve_manual)
if(TARGET fewbit_runtime)
  add_dependencies(fewbit_installed fewbit_runtime)
endif()
install(CODE "execute_process(
  COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target fewbit_installed
  COMMAND_ERROR_IS_FATAL ANY)")

install(TARGETS fewbit-solve fewbit-codegen ${libraries} EXPORT fewbit-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The solver's public headers are included as fewbit/solver/..., also by each other.
set(public_headers
  expression/derivative.hpp expression/expression.hpp expression/interval.hpp expression/jet.hpp
  expression/taylor_bounds.hpp functions/registry.hpp proven/solve.hpp search/search_table.hpp
  table/json.hpp table/table.hpp verify/verify.hpp weights/weight.hpp)
foreach(header ${public_headers})
  file(READ ${PROJECT_SOURCE_DIR}/solver/${header} text)
  string(REGEX REPLACE "#include \"([a-z_]+/)" "#include \"fewbit/solver/\\1" text "${text}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/installed/${header} CONTENT "${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY
    CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/solver/${header})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fewbit/solver/${folder})
endforeach()
install(EXPORT fewbit-targets NAMESPACE fewbit:: DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fewbit)

# Where man and the shells look.
set(manual ${PROJECT_BINARY_DIR}/solver/cli/manual)
install(FILES ${manual}/fewbit-solve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${manual}/fewbit-solve.bash RENAME fewbit-solve
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/_fewbit-solve DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/fewbit-solve.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

if(TARGET fewbit_runtime)
  # A program that names a libtorch loads that one; others find the one that we were built with.
  set(folders "$ORIGIN" "${FEWBIT_TORCH_FOLDER}/lib")
  if(FEWBIT_RUNTIME_CUDA)
    cmake_path(GET _fewbit_torch_cudart PARENT_PATH folder)
    list(APPEND folders "${folder}")
  endif()
  set_target_properties(fewbit_runtime PROPERTIES INSTALL_RPATH "${folders}")
  install(TARGETS fewbit_runtime EXPORT fewbit-runtime-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT fewbit-runtime-targets NAMESPACE fewbit:: DESTINATION ${package_dir})
  install(DIRECTORY
    ${PROJECT_SOURCE_DIR}/runtime/include/fewbit ${PROJECT_SOURCE_DIR}/generated/include/fewbit
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # What the kernels of a consumer's function are compiled from, beside the module that does it.
  set(kernels ${PROJECT_SOURCE_DIR}/runtime/kernels)
  set(installed ${package_dir}/runtime/kernels)
  install(FILES ${kernels}/element_type.hpp ${kernels}/philox.hpp DESTINATION ${installed})
  install(FILES ${kernels}/stream/code_stream.hpp DESTINATION ${installed}/stream)
  install(FILES ${kernels}/activation/activation.hpp ${kernels}/activation/step_view.hpp
    DESTINATION ${installed}/activation)
  foreach(file registry.cpp values.cpp fitted.hpp function_kernels.hpp half_values.hpp lines.hpp
      logistic.hpp segments.hpp values.hpp)
    install(FILES ${kernels}/activation/cpu/${file} DESTINATION ${installed}/activation/cpu)
  endforeach()
  if(FEWBIT_RUNTIME_CUDA)
    set(fewbit_cuda_of_build ${FEWBIT_TORCH_CUDA})
    foreach(family activation stream)
      install(DIRECTORY ${kernels}/${family}/cuda DESTINATION ${installed}/${family}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN "registry.cpp")
    endforeach()
    install(FILES ${kernels}/half.hpp ${kernels}/host_device.hpp DESTINATION ${installed})
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FewbitTorch.cmake DESTINATION ${package_dir})
endif()

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
