# What every target of the project shares: language level, warnings, ccache, and the helpers that
# declare a library, a test or a benchmark.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# What files of ours include takes longer to compile than what they are. To change one and build again
# is quicker without it.
option(FEWBIT_UNITY "Compile several files of a target together" ON)
set(CMAKE_UNITY_BUILD ${FEWBIT_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

find_program(FEWBIT_CCACHE ccache)
if(FEWBIT_CCACHE)
  # Paths below the project count as relative, so that trees and clones share what was compiled, and
  # precompiled headers by what is in them. Not in ccache's depend mode: it takes a fifth off a first
  # build's time, and finds nothing in a tree of another place. A file of ccache's own name, which clang's
  # tools know.
  set(FEWBIT_LAUNCHER ${PROJECT_BINARY_DIR}/ccache)
  file(CONFIGURE OUTPUT ${FEWBIT_LAUNCHER} CONTENT "#!/bin/sh
export CCACHE_BASEDIR='@PROJECT_SOURCE_DIR@' CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros
exec '@FEWBIT_CCACHE@' \"$@\"
" @ONLY)
  file(CHMOD ${FEWBIT_LAUNCHER} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${FEWBIT_LAUNCHER})
  endif()
endif()

option(FEWBIT_WARNINGS_AS_ERRORS "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(FEWBIT_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
set(FEWBIT_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")
set(FEWBIT_TEST_PREFIX "" CACHE STRING "Put before the name of every test")
set(FEWBIT_SANITIZED_CASES "" CACHE STRING "Cases that sanitizers see, as for --gtest_filter")

# Private interface of every target of ours; never exported.
add_library(fewbit_build INTERFACE)
target_compile_options(fewbit_build INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>"
  # GCC 12 reports string concatenation wrongly.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  # GCC collects garbage from 128 MiB on, in vain with libtorch's headers: a tenth of the time.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>
  # The same decimal results on every machine: no contraction to fused operations.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  # nvcc's own warnings, and of the host compiler's those that its generated code does not raise.
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>"
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${FEWBIT_WARNINGS_AS_ERRORS}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${FEWBIT_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)
if(FEWBIT_SANITIZE)
  target_compile_options(fewbit_build INTERFACE
    -fsanitize=${FEWBIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fewbit_build INTERFACE -fsanitize=${FEWBIT_SANITIZE})
endif()
# Beside it, for what casts no pointers: without the checks of each pointer that is followed, nearly
# half of the time that sanitized code takes to compile. AddressSanitizer sees a null pointer, too.
add_library(fewbit_pointers_unchecked INTERFACE)
if(FEWBIT_SANITIZE)
  target_compile_options(fewbit_pointers_unchecked INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,vptr,object-size>)
endif()
# The same, beside it, for targets that include libtorch's headers. Classes there (at::RecordFunction)
# have other members without NDEBUG than in the library, which is built with it: a build of any type
# has to define it.
add_library(fewbit_torch_build INTERFACE)
target_compile_definitions(fewbit_torch_build INTERFACE NDEBUG)
# The same, beside it, for programs that call our libraries and are not fast or slow themselves:
# without optimisation they take a fifth less time to compile.
add_library(fewbit_program_build INTERFACE)
target_compile_options(fewbit_program_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
# With sanitizers what includes libtorch is not optimised either: what computes is in other targets.
if(FEWBIT_SANITIZE)
  target_compile_options(fewbit_torch_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
endif()

# fewbit_library(NAME SOURCES a.cpp ... USES target ...): static library fewbit_NAME, alias
# fewbit::NAME; headers are included from the repository's solver/ folder as "NAME/header.hpp".
function(fewbit_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_library(fewbit_${name} STATIC ${ARG_SOURCES})
  add_library(fewbit::${name} ALIAS fewbit_${name})
  set_target_properties(fewbit_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(fewbit_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/solver>
    $<INSTALL_INTERFACE:include>)
  target_compile_features(fewbit_${name} PUBLIC cxx_std_20)
  target_link_libraries(fewbit_${name} PUBLIC ${ARG_USES}
    PRIVATE $<BUILD_INTERFACE:fewbit_build> $<BUILD_INTERFACE:fewbit_pointers_unchecked>)
endfunction()

# fewbit_runtime_library(NAME SOURCES a.cpp ... USES target ...): objects fewbit_NAME, alias
# fewbit::NAME, a part of the library fewbit_runtime; private headers are included from the
# repository's runtime/ folder as "NAME/header.hpp".
function(fewbit_runtime_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_library(fewbit_${name} OBJECT ${ARG_SOURCES})
  add_library(fewbit::${name} ALIAS fewbit_${name})
  target_include_directories(fewbit_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/runtime ${PROJECT_SOURCE_DIR}/runtime/include
    ${PROJECT_SOURCE_DIR}/generated/include)
  target_compile_features(fewbit_${name} PUBLIC cxx_std_20)
  target_link_libraries(fewbit_${name}
    PUBLIC ${ARG_USES} PRIVATE fewbit_build fewbit_torch_build)
  fewbit_precompile(fewbit_${name} fewbit_runtime_headers)
  fewbit_link_alone(${name} ${ARG_USES})
endfunction()

# fewbit_link_alone(NAME target ...): links fewbit_NAME with what it names and nothing else, so that a
# call of what it does not name is an error of the linker's. Where tests are built.
function(fewbit_link_alone name)
  set(objects $<TARGET_OBJECTS:fewbit_${name}>)
  set(libraries "")
  foreach(used ${ARGN})
    get_target_property(known ${used} FEWBIT_OBJECTS)
    if(known)
      list(APPEND objects ${known})
      get_target_property(known ${used} FEWBIT_LIBRARIES)
      list(APPEND libraries ${known})
    else()
      list(APPEND libraries ${used})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES objects)
  list(REMOVE_DUPLICATES libraries)
  set_target_properties(fewbit_${name} PROPERTIES
    FEWBIT_OBJECTS "${objects}" FEWBIT_LIBRARIES "${libraries}")
  if(FEWBIT_BUILD_TESTS AND NOT FEWBIT_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_library(fewbit_${name}_alone MODULE ${objects})
    # OpenMP's library is libtorch's own, which is not in the list of what a program links.
    target_link_libraries(fewbit_${name}_alone PRIVATE
      ${libraries} $<$<CXX_COMPILER_ID:GNU>:gomp>)
    target_link_options(fewbit_${name}_alone PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# fewbit_test(NAME [COMPUTES] SOURCES a_test.cpp ... USES target ... [UNSANITIZED Suite.Case ...]):
# binary NAME_test, its suites one by one in ctest: starting libtorch takes longer than most cases.
# Each file keeps to a namespace of its own. A test that COMPUTES spends its time in its own code, or in
# templates of ours, and is compiled as the libraries are. In a tree with a sanitizer ctest runs the
# binary in shards, as starting takes longer still, and without the UNSANITIZED cases, which take long
# and have nothing for a sanitizer that others have not.
function(fewbit_test name)
  cmake_parse_arguments(ARG "COMPUTES" "" "SOURCES;USES;UNSANITIZED" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE FEWBIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name}_test PRIVATE ${ARG_USES} GTest::gtest_main fewbit_build)
  if(NOT ARG_COMPUTES)
    target_link_libraries(${name}_test PRIVATE fewbit_program_build)
  endif()
  if(NOT "${ARG_USES}" MATCHES "kernels|torch|runtime")  # of the solver alone
    target_link_libraries(${name}_test PRIVATE fewbit_pointers_unchecked)
  endif()
  if("fewbit_torch_build" IN_LIST ARG_USES)
    target_sources(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/seeded_torch.cpp)
    fewbit_precompile(${name}_test fewbit_program_headers)
  endif()
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 6)
  if(NOT FEWBIT_SANITIZE)
    set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
    add_custom_command(TARGET ${name}_test POST_BUILD BYPRODUCTS ${suites} VERBATIM
      COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}_test> -D PREFIX=${FEWBIT_TEST_PREFIX}${name}.
        -D OUTPUT=${suites} -P ${PROJECT_SOURCE_DIR}/cmake/discover_suites.cmake)
    # Without the binary ctest has one test, which fails.
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake @ONLY CONTENT
"if(EXISTS [==[@suites@]==])
  include([==[@suites@]==])
else()
  add_test(@FEWBIT_TEST_PREFIX@@name@.NOT_BUILT @name@_NOT_BUILT)
endif()
")
    set_property(DIRECTORY APPEND PROPERTY
      TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake)
    return()
  endif()
  list(JOIN ARG_UNSANITIZED ":" unsanitized)
  set(shards 4)
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    set(test ${FEWBIT_TEST_PREFIX}${name}.${shard}_of_${shards})
    add_test(NAME ${test}
      COMMAND ${name}_test --gtest_filter=${FEWBIT_SANITIZED_CASES}-${unsanitized})
    set_tests_properties(${test} PROPERTIES
      TIMEOUT 1200 COST 50  # before the many short ones, the longest are among them
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index};FEWBIT_FUZZ_SECONDS=20")
  endforeach()
endfunction()

# fewbit_bench(NAME SOURCES a.cpp ... USES target ...): Google Benchmark binary NAME_bench, run by
# scripts/bench.
function(fewbit_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name}_bench ${ARG_SOURCES})
  target_include_directories(${name}_bench PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name}_bench PRIVATE FEWBIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name}_bench PRIVATE ${ARG_USES} benchmark::benchmark fewbit_build)
  set_target_properties(${name}_bench PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()
