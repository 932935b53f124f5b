# Finds libtorch and declares fewbit::torch: the CPU libraries of a pip or zip libtorch with their
# headers. The package that libtorch ships is not used: it asks for a CUDA toolkit wherever libtorch
# was built with CUDA, and CMake 3.25 cannot read it with CUDA 20. Looked through, first find wins:
#   1. FEWBIT_TORCH_ROOT, the folder that holds include/ and lib/;
#   2. the virtual environment that scripts/setup makes: FEWBIT_VENV, else .venv;
#   3. the torch that `python3` imports.
# Both variables are CMake's, taken from the environment where they are empty and then remembered.
# Sets FEWBIT_TORCH_VERSION and FEWBIT_TORCH_FOLDER, the folder that was found.

set(FEWBIT_TORCH_ROOT "" CACHE PATH "Folder of libtorch, holding include/ and lib/")
set(FEWBIT_VENV "" CACHE PATH "Python environment with torch, in the place of .venv")
foreach(variable FEWBIT_TORCH_ROOT FEWBIT_VENV)
  if(${variable} STREQUAL "" AND NOT "$ENV{${variable}}" STREQUAL "")
    set_property(CACHE ${variable} PROPERTY VALUE "$ENV{${variable}}")
  endif()
endforeach()
set(_fewbit_torch_oldest 2.8)

function(_fewbit_torch_usable folder result)
  if(EXISTS "${folder}/include/ATen/ATen.h" AND EXISTS "${folder}/lib/libtorch_cpu.so")
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Folders of libtorch inside a virtual environment: none or one.
function(_fewbit_torch_in_environment environment result)
  file(GLOB folders "${environment}/lib/python3*/site-packages/torch")
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# Where Python keeps the package torch, found without importing it: that takes seconds.
function(_fewbit_torch_of_python result)
  execute_process(
    COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').origin)"
    OUTPUT_VARIABLE origin OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  set(folder "")
  if(status EQUAL 0)
    cmake_path(GET origin PARENT_PATH folder)
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# A root that was named is taken or refused, never passed over.
function(_fewbit_torch_folder result)
  if(NOT FEWBIT_TORCH_ROOT STREQUAL "")
    _fewbit_torch_usable("${FEWBIT_TORCH_ROOT}" usable)
    if(NOT usable)
      message(FATAL_ERROR "FEWBIT_TORCH_ROOT is '${FEWBIT_TORCH_ROOT}', which is no libtorch: "
        "include/ATen/ATen.h or lib/libtorch_cpu.so is missing there")
    endif()
    set(${result} "${FEWBIT_TORCH_ROOT}" PARENT_SCOPE)
    return()
  endif()
  set(environment "${FEWBIT_VENV}")
  if(environment STREQUAL "")
    set(environment "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../.venv")
  endif()
  cmake_path(ABSOLUTE_PATH environment NORMALIZE)
  _fewbit_torch_in_environment("${environment}" folders)
  _fewbit_torch_of_python(of_python)
  foreach(folder ${folders} ${of_python})
    _fewbit_torch_usable("${folder}" usable)
    if(usable)
      set(${result} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "libtorch was not found. Looked at:\n"
    "  FEWBIT_TORCH_ROOT, a variable of CMake or of the environment: not set\n"
    "  the virtual environment ${environment}: no usable torch\n"
    "  the torch of python3: ${of_python}\n"
    "`scripts/setup runtime` installs it; -DFEWBIT_BUILD_TORCH=OFF builds without it.")
endfunction()

# The version that the headers state: in headeronly/ since 2.9, in the C++ interface before.
function(_fewbit_torch_version folder result)
  foreach(file headeronly/version.h csrc/api/include/torch/version.h)
    set(header "${folder}/include/torch/${file}")
    if(EXISTS "${header}")
      file(STRINGS "${header}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      if(lines)
        list(TRANSFORM lines REPLACE ".* ([0-9]+).*" "\\1")
        list(JOIN lines "." version)
        set(${result} ${version} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  message(FATAL_ERROR "no TORCH_VERSION_MAJOR in the headers below ${folder}/include/torch")
endfunction()

function(_fewbit_torch_library name folder)
  add_library(fewbit::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(fewbit::${name} PROPERTIES
    IMPORTED_LOCATION "${folder}/lib/lib${name}.so" IMPORTED_NO_SONAME FALSE)
endfunction()

if(NOT TARGET fewbit::torch)
  _fewbit_torch_folder(FEWBIT_TORCH_FOLDER)
  _fewbit_torch_version("${FEWBIT_TORCH_FOLDER}" FEWBIT_TORCH_VERSION)
  if(FEWBIT_TORCH_VERSION VERSION_LESS _fewbit_torch_oldest)
    message(FATAL_ERROR "libtorch ${FEWBIT_TORCH_VERSION} in ${FEWBIT_TORCH_FOLDER} is too old: "
      "${_fewbit_torch_oldest} or newer is needed")
  endif()
  message(STATUS "libtorch ${FEWBIT_TORCH_VERSION}: ${FEWBIT_TORCH_FOLDER}")
  find_package(Threads REQUIRED)
  _fewbit_torch_library(c10 "${FEWBIT_TORCH_FOLDER}")
  _fewbit_torch_library(torch_cpu "${FEWBIT_TORCH_FOLDER}")
  add_library(fewbit::torch INTERFACE IMPORTED GLOBAL)
  # What libtorch_cpu itself needs, CUDA's libraries among it, it finds by its own run path.
  target_link_libraries(fewbit::torch INTERFACE fewbit::torch_cpu fewbit::c10 Threads::Threads)
  target_include_directories(fewbit::torch SYSTEM INTERFACE
    "${FEWBIT_TORCH_FOLDER}/include" "${FEWBIT_TORCH_FOLDER}/include/torch/csrc/api/include")
  target_compile_features(fewbit::torch INTERFACE cxx_std_17)

  # Private interface of our own targets that include libtorch's headers, beside fewbit_build. Classes
  # there (at::RecordFunction) have other members without NDEBUG than in the library, which is built
  # with it: a build of any type has to define it.
  add_library(fewbit_torch_build INTERFACE)
  target_compile_definitions(fewbit_torch_build INTERFACE NDEBUG)
endif()
