# fewbit_function_kernels(RESULT NAME FOLDER [INCLUDES folder...] [DEFINITIONS definition...]
#   [USES target...]): compiles the kernels of a registry of functions in
# FOLDER/kernels/activation/cpu, registry.cpp once and values.cpp for each instruction set, as object
# libraries NAME_registry, NAME_baseline and, on x86-64, NAME_avx2 and NAME_avx512; their names come
# back in RESULT. Without DEFINITIONS the registry is generated/registry.inc, otherwise what
# FEWBIT_FUNCTIONS, FEWBIT_REGISTRY and FEWBIT_REGISTRY_NAME say: the functions of a consumer
# (fewbit_add_activation with TORCH).
function(fewbit_function_kernels result name folder)
  cmake_parse_arguments(ARG "" "" "INCLUDES;DEFINITIONS;USES" ${ARGN})
  set(sets Baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND sets Avx2 Avx512)
    list(APPEND ARG_DEFINITIONS FEWBIT_X86_KERNELS)
    set(Avx2_flags -mavx2 -mfma)
    set(Avx512_flags
      -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
  endif()
  add_library(${name}_registry OBJECT ${folder}/kernels/activation/cpu/registry.cpp)
  set(names ${name}_registry)
  foreach(set ${sets})
    string(TOLOWER ${set} suffix)
    set(values ${name}_${suffix})
    add_library(${values} OBJECT ${folder}/kernels/activation/cpu/values.cpp)
    target_compile_definitions(${values} PRIVATE FEWBIT_KERNELS=k${set}Kernels)
    # The same results on every machine, also in a project that is compiled with -ffast-math; and no
    # flags or errno to keep, without which the compiler does not vectorise the functions' loops. That
    # one flag overrides another may be worth a warning, not an error.
    target_compile_options(${values} PRIVATE -Wno-error -fno-fast-math -ffp-contract=off
      -O3 -fno-trapping-math -fno-math-errno ${${set}_flags})
    list(APPEND names ${values})
  endforeach()
  foreach(library ${names})
    target_compile_features(${library} PRIVATE cxx_std_20)
    target_compile_definitions(${library} PRIVATE ${ARG_DEFINITIONS})
    target_include_directories(${library} PRIVATE ${folder} ${ARG_INCLUDES})
    target_link_libraries(${library} PRIVATE ${ARG_USES})
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# fewbit_cuda_function_kernels(RESULT NAME FOLDER SOURCES a.cu... [INCLUDES folder...]
#   [DEFINITIONS definition...] [USES target...]): the same for CUDA, one object library NAME_cuda of
# FOLDER/kernels/activation/cuda/registry.cpp and of the functions' launchers, which codegen writes,
# one .cu for each. The project has the language CUDA; who links the objects links a CUDA runtime.
function(fewbit_cuda_function_kernels result name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES;DEFINITIONS;USES" ${ARGN})
  set(library ${name}_cuda)
  add_library(${library} OBJECT ${folder}/kernels/activation/cuda/registry.cpp ${ARG_SOURCES})
  fewbit_cuda_options(${library})
  target_compile_definitions(${library} PRIVATE ${ARG_DEFINITIONS})
  target_include_directories(${library} PRIVATE ${folder} ${ARG_INCLUDES})
  target_include_directories(${library} SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_link_libraries(${library} PRIVATE ${ARG_USES})
  set(${result} ${library} PARENT_SCOPE)
endfunction()

# How a target with .cu files is compiled. Results are the CPU's, also in a project that is compiled
# with --use_fast_math: nothing is fused, flushed to zero or divided by approximation but where the
# code says so. The other option lets kernels call constexpr functions.
#
# What is older than Ampere lacks the conversions to bf16; CMake's own default is older. Such a list is
# replaced by ours.
function(fewbit_cuda_options target)
  foreach(architecture ${CMAKE_CUDA_ARCHITECTURES})
    if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 80)
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "80-real;90-real;100-real;120")
    endif()
  endforeach()
  target_compile_features(${target} PRIVATE cxx_std_20)
  set(options -fmad=false -ftz=false -prec-div=true -prec-sqrt=true --expt-relaxed-constexpr
    -Xcompiler=-ffp-contract=off)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# CMake 3.25 does not know that nvcc has C++20.
foreach(kind STANDARD EXTENSION)
  if(NOT DEFINED CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
  endif()
endforeach()
