# Libtorch's headers take a compiler ten seconds and more for each file that includes them. Here they
# are read once for the runtime, and once for all programs that use it: tests, examples, benchmarks.
# Sources include what they use all the same, and build without (FEWBIT_PRECOMPILE=OFF).

option(FEWBIT_PRECOMPILE "Read large headers once for all files" ${PROJECT_IS_TOP_LEVEL})

# fewbit_precompiled_headers(NAME KIND header...): the headers as a `library` or a `program` compiles
# them, whose code may be moved in different ways.
function(fewbit_precompiled_headers name kind)
  if(NOT FEWBIT_PRECOMPILE)
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  if(kind STREQUAL "program")
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE fewbit_program_build)
  else()
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${name} OBJECT ${source})
  endif()
  target_link_libraries(${name} PRIVATE fewbit::torch fewbit_build fewbit_torch_build)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# fewbit_precompile(TARGET NAME): the target's files take the headers of that name.
function(fewbit_precompile target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

# fewbit_part_of_programs(TARGET): a static library that programs share, compiled as they are.
function(fewbit_part_of_programs target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIE)
  target_link_libraries(${target} PRIVATE fewbit_build fewbit_torch_build fewbit_program_build)
  fewbit_precompile(${target} fewbit_program_headers)
endfunction()
