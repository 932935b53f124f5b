# fewbit_add_activation(TARGET NAME my_act EXPR "x*sigmoid(1.702*x)" BITS b | LEVELS k
#   [FORM levels|intervals|unbiased] [OBJECTIVE squared|smoothed[:tau=...,lambda=...]]
#   [WEIGHT uniform|normal:M,S|mixture:A,B|laplace:M,S|student-t:M,S,D|histogram:FILE|samples:FILE]
#   [DOMAIN lo,hi]
#   [DTYPE exact|fp32|bf16|fp16] [LANG cpp|cuda] [TORCH])
#
# Solves the activation while TARGET is built and lets it `#include "fewbit/my_act.hpp"`, one header
# that needs nothing else; all of it is in namespace fewbit_my_act_b3, for as many bits as BITS or
# LEVELS ask for. The table is kept beside it as fewbit/my_act.json. Both are made again
# only when an argument, the weight's file or the solver itself changed. Relative files are taken
# from the calling CMakeLists.txt. An INTERFACE library as TARGET hands the header to its users.
#
# With TORCH, TARGET is also linked with fewbit::runtime and may `#include "fewbit/nn/my_act.hpp"`:
# fewbit::my_act(x, bits) and the module fewbit::nn::MyAct, with kernels for every type and
# instruction set of the runtime (and for CUDA, where fewbit has it and the project's languages
# include it), known by name to the operations fewbit::activation... Where FORM,
# OBJECTIVE, WEIGHT and DOMAIN are all left out the table is then solved as the runtime's own
# defaults are: for normal inputs and, up to 4 bits, the smoothed objective.

include(${CMAKE_CURRENT_LIST_DIR}/FewbitKernels.cmake)

function(_fewbit_activation_fail message)
  message(FATAL_ERROR "fewbit_add_activation: ${message}")
endfunction()

# Fails unless `value` is empty or matches `pattern` as a whole.
function(_fewbit_activation_check keyword value pattern accepted)
  if(NOT "${value}" STREQUAL "" AND NOT "${value}" MATCHES "^(${pattern})$")
    _fewbit_activation_fail("${keyword} is '${value}', accepted: ${accepted}")
  endif()
endfunction()

# Fails unless `value` is empty or a whole number from `low` to `high`.
function(_fewbit_activation_check_count keyword value low high)
  _fewbit_activation_check(${keyword} "${value}" "[0-9][0-9]?[0-9]?" "${low} to ${high}")
  if(NOT "${value}" STREQUAL "" AND (value LESS low OR value GREATER high))
    _fewbit_activation_fail("${keyword} is '${value}', accepted: ${low} to ${high}")
  endif()
endfunction()

function(_fewbit_activation_check_all)
  if(DEFINED ARG_UNPARSED_ARGUMENTS)
    _fewbit_activation_fail("unknown argument '${ARG_UNPARSED_ARGUMENTS}', accepted: NAME EXPR BITS "
      "LEVELS FORM OBJECTIVE WEIGHT DOMAIN DTYPE LANG TORCH")
  endif()
  if(DEFINED ARG_KEYWORDS_MISSING_VALUES)
    _fewbit_activation_fail("no value after '${ARG_KEYWORDS_MISSING_VALUES}'")
  endif()
  foreach(keyword NAME EXPR)
    if("${ARG_${keyword}}" STREQUAL "")
      _fewbit_activation_fail("${keyword} is missing")
    endif()
  endforeach()
  if(DEFINED ARG_BITS AND DEFINED ARG_LEVELS)
    _fewbit_activation_fail("BITS and LEVELS exclude each other")
  elseif(NOT DEFINED ARG_BITS AND NOT DEFINED ARG_LEVELS)
    _fewbit_activation_fail("BITS (1 to 8) or LEVELS (2 to 256) is missing")
  endif()
  _fewbit_activation_check(NAME "${ARG_NAME}" "[A-Za-z_][A-Za-z0-9_]*" "a C++ identifier")
  _fewbit_activation_check_count(BITS "${ARG_BITS}" 1 8)
  _fewbit_activation_check_count(LEVELS "${ARG_LEVELS}" 2 256)
  _fewbit_activation_check(FORM "${ARG_FORM}" "levels|intervals|unbiased"
    "levels, intervals, unbiased")
  _fewbit_activation_check(OBJECTIVE "${ARG_OBJECTIVE}" "squared|smoothed(:.+)?"
    "squared, smoothed[:tau=...,lambda=...]")
  _fewbit_activation_check(WEIGHT "${ARG_WEIGHT}"
    "uniform|(normal|mixture|laplace|student-t)(:.+)?|(histogram|samples):.+"
    "uniform, normal:M,S, mixture:A,B, laplace:M,S, student-t:M,S,D, histogram:FILE, samples:FILE")
  _fewbit_activation_check(DOMAIN "${ARG_DOMAIN}" "[^,]+,[^,]+" "LO,HI")
  _fewbit_activation_check(DTYPE "${ARG_DTYPE}" "exact|fp32|bf16|fp16" "exact, fp32, bf16, fp16")
  _fewbit_activation_check(LANG "${ARG_LANG}" "cpp|cuda" "cpp, cuda")
  if(ARG_TORCH AND NOT TARGET fewbit::runtime)
    _fewbit_activation_fail("TORCH needs find_package(fewbit COMPONENTS runtime)")
  endif()
endfunction()

function(fewbit_add_activation target)
  if(NOT TARGET ${target})
    _fewbit_activation_fail("'${target}' is not a target")
  endif()
  set(options FORM OBJECTIVE WEIGHT DOMAIN DTYPE)
  cmake_parse_arguments(PARSE_ARGV 1 ARG TORCH "NAME;EXPR;BITS;LEVELS;LANG;${options}" "")
  _fewbit_activation_check_all()
  set(activation fewbit_activation_${ARG_NAME})
  if(TARGET ${activation})
    _fewbit_activation_fail("NAME '${ARG_NAME}' is taken by another call")
  endif()

  if(ARG_TORCH AND NOT "${ARG_FORM}${ARG_OBJECTIVE}${ARG_WEIGHT}${ARG_DOMAIN}" MATCHES ".")
    set(ARG_WEIGHT normal:0,1)
    if("${ARG_BITS}" MATCHES "^[1-4]$" OR "${ARG_LEVELS}" MATCHES "^([1-9]|1[0-6])$")
      set(ARG_OBJECTIVE smoothed)
    endif()
  endif()
  set(weight_file)
  if(ARG_WEIGHT MATCHES "^(histogram|samples):(.+)$")
    set(kind ${CMAKE_MATCH_1})
    cmake_path(ABSOLUTE_PATH CMAKE_MATCH_2 OUTPUT_VARIABLE weight_path)
    string(REGEX REPLACE "(\\.npz):.*$" "\\1" weight_file "${weight_path}")  # ARCHIVE.npz:KEY
    get_source_file_property(generated ${weight_file} GENERATED)
    if(NOT EXISTS ${weight_file} AND NOT generated)
      _fewbit_activation_fail("WEIGHT file is missing: ${weight_file}")
    endif()
    set(ARG_WEIGHT "${kind}:${weight_path}")
  endif()
  # One word each, so that a value may start with a minus sign.
  set(arguments "--expr=${ARG_EXPR}" --name=${ARG_NAME})
  foreach(keyword BITS LEVELS ${options})
    if(DEFINED ARG_${keyword})
      string(TOLOWER ${keyword} option)
      list(APPEND arguments "--${option}=${ARG_${keyword}}")
    endif()
  endforeach()
  if(NOT DEFINED ARG_LANG)
    set(ARG_LANG cpp)
  endif()
  _fewbit_activation_bits(bits)

  set(include ${CMAKE_CURRENT_BINARY_DIR}/fewbit_activations)
  set(json ${include}/fewbit/${ARG_NAME}.json)
  set(header ${include}/fewbit/${ARG_NAME}.hpp)
  file(MAKE_DIRECTORY ${include}/fewbit)
  set(stamp ${include}/${ARG_NAME}.arguments)
  _fewbit_activation_stamp(${stamp} "${arguments};${ARG_LANG}")
  # The solver leaves a file alone that would not change; `touch` tells the build that it is new.
  add_custom_command(OUTPUT ${json}
    COMMAND fewbit::fewbit-solve ${arguments} -o ${json}
    COMMAND ${CMAKE_COMMAND} -E touch ${json}
    DEPENDS ${stamp} ${weight_file} $<TARGET_FILE:fewbit::fewbit-solve>
    COMMENT "Solving ${ARG_NAME}" VERBATIM)
  add_custom_command(OUTPUT ${header}
    COMMAND fewbit::fewbit-solve emit ${json} --lang ${ARG_LANG} -o ${header}
      --namespace fewbit_${ARG_NAME}_b${bits}
    COMMAND ${CMAKE_COMMAND} -E touch ${header}
    DEPENDS ${json}
    COMMENT "Writing fewbit/${ARG_NAME}.hpp" VERBATIM)
  if(ARG_TORCH)
    _fewbit_activation_torch_files(torch_files ${ARG_NAME} ${json} ${include})
  endif()
  add_custom_target(${activation} DEPENDS ${header} ${torch_files})
  add_dependencies(${target} ${activation})
  _fewbit_activation_scope(scope ${target})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${include}>)
  if(ARG_TORCH)
    _fewbit_activation_torch(${target} ${scope} ${ARG_NAME} ${include})
  endif()
endfunction()

# BITS, or the bits of a code where LEVELS are asked for.
function(_fewbit_activation_bits result)
  set(bits ${ARG_BITS})
  if(NOT DEFINED ARG_BITS)
    set(bits 1)
    set(most 2)
    while(most LESS ARG_LEVELS)
      math(EXPR bits "${bits} + 1")
      math(EXPR most "${most} * 2")
    endwhile()
  endif()
  set(${result} ${bits} PARENT_SCOPE)
endfunction()

# Declares how what TORCH compiles is generated from the table; its files come back in `result`.
function(_fewbit_activation_torch_files result name json include)
  set(files ${include}/fewbit/nn/${name}.hpp)
  foreach(file activation.cpp functions.hpp math.hpp registry.inc step_table.hpp ${name}.cu
      ${name}.hpp)
    list(APPEND files ${include}/${name}/${file})
  endforeach()
  add_custom_command(OUTPUT ${files}
    COMMAND fewbit::fewbit-codegen --torch ${json} --output ${include}
    COMMAND ${CMAKE_COMMAND} -E touch ${files}
    DEPENDS ${json} $<TARGET_FILE:fewbit::fewbit-codegen>
    COMMENT "Writing fewbit/nn/${name}.hpp" VERBATIM)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# Compiles the function's kernels, operation and module into the target. As objects, so that the
# registration is in the program whether or not anything refers to it.
function(_fewbit_activation_torch target scope name include)
  set(library fewbit_kernels_of_${name})
  set(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/runtime)
  if(NOT EXISTS ${sources})  # in fewbit's own tree
    cmake_path(SET sources NORMALIZE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../runtime)
  endif()
  set(registry FEWBIT_REGISTRY="${name}/registry.inc" FEWBIT_REGISTRY_NAME=own_${name})
  fewbit_function_kernels(libraries ${library} ${sources}
    INCLUDES ${include}
    DEFINITIONS FEWBIT_FUNCTIONS="${name}/functions.hpp" ${registry})
  add_library(${library}_torch OBJECT ${include}/${name}/activation.cpp)
  target_include_directories(${library}_torch PRIVATE ${include} ${sources})
  target_link_libraries(${library}_torch PRIVATE fewbit::runtime)
  # In builds of any type libtorch's classes have the members that they have in the library.
  target_compile_definitions(${library}_torch PRIVATE NDEBUG)
  set_target_properties(${library}_torch PROPERTIES POSITION_INDEPENDENT_CODE ON)
  get_target_property(has_cuda fewbit::runtime FEWBIT_CUDA)
  if(has_cuda AND CMAKE_CUDA_COMPILER)
    fewbit_cuda_function_kernels(cuda_library ${library} ${sources}
      SOURCES ${include}/${name}/${name}.cu INCLUDES ${include} DEFINITIONS ${registry})
    list(APPEND libraries ${cuda_library})
    target_compile_definitions(${library}_torch PRIVATE FEWBIT_CUDA)
    target_include_directories(${library}_torch SYSTEM PRIVATE
      ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    target_link_libraries(${target} ${scope} fewbit::torch_cudart)
  elseif(has_cuda)
    message(STATUS "fewbit_add_activation: ${name} is for the CPU only, the project's languages do "
      "not include CUDA")
  endif()
  foreach(part ${libraries} ${library}_torch)
    add_dependencies(${part} fewbit_activation_${name})
    target_sources(${target} ${scope} $<TARGET_OBJECTS:${part}>)
  endforeach()
  target_link_libraries(${target} ${scope} fewbit::runtime)
endfunction()

# Writes what the table was asked with, only when it differs: a change of arguments is then a newer
# file to every generator.
function(_fewbit_activation_stamp file content)
  set(known)
  if(EXISTS ${file})
    file(READ ${file} known)
  endif()
  if(NOT known STREQUAL content)
    file(WRITE ${file} "${content}")
  endif()
endfunction()

function(_fewbit_activation_scope result target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(${result} INTERFACE PARENT_SCOPE)
  else()
    set(${result} PRIVATE PARENT_SCOPE)
  endif()
endfunction()
