# fewbit_function_kernels(RESULT NAME FOLDER [INCLUDES folder...] [DEFINITIONS definition...]
#   [USES target...]): compiles the kernels of a registry of functions, FOLDER/kernels/cpu/registry.cpp
# once and values.cpp for each instruction set, as object libraries NAME_registry, NAME_baseline and,
# on x86-64, NAME_avx2 and NAME_avx512; their names come back in RESULT. Without DEFINITIONS the
# registry is generated/registry.inc, otherwise what FEWBIT_FUNCTIONS, FEWBIT_REGISTRY and
# FEWBIT_REGISTRY_NAME say: the functions of a consumer (fewbit_add_activation with TORCH).
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
  add_library(${name}_registry OBJECT ${folder}/kernels/cpu/registry.cpp)
  set(names ${name}_registry)
  foreach(set ${sets})
    string(TOLOWER ${set} suffix)
    set(values ${name}_${suffix})
    add_library(${values} OBJECT ${folder}/kernels/cpu/values.cpp)
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
