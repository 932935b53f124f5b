# Finds libtorch and declares fewbit::torch: the CPU libraries of a pip or zip libtorch with their
# headers; and where it has CUDA, fewbit::torch_cuda, fewbit::c10_cuda and fewbit::torch_cudart, the
# CUDA runtime that they load. The package that libtorch ships is not used: it asks for a CUDA
# toolkit wherever libtorch was built with CUDA, and CMake 3.25 cannot read it with CUDA 20. Looked
# through, first find wins:
#   1. FEWBIT_TORCH_ROOT, the folder that holds include/ and lib/;
#   2. the virtual environment FEWBIT_VENV; else the one that scripts/setup makes, .venv, or, in an
#      installed package, the libtorch that it was built with;
#   3. the torch that `python3` imports.
# Both variables are CMake's, taken from the environment where they are empty and then remembered.
# Sets FEWBIT_TORCH_VERSION, FEWBIT_TORCH_FOLDER, the folder that was found, and FEWBIT_TORCH_CUDA,
# the major version of its CUDA, empty where it has none. Where none is found
# the configuration stops; find_package goes on, with the reason in FEWBIT_TORCH_ERROR.

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

# A root that was named is taken or refused, never passed over. `error` is empty where there is one.
function(_fewbit_torch_folder result error)
  set(${error} "" PARENT_SCOPE)
  if(NOT FEWBIT_TORCH_ROOT STREQUAL "")
    _fewbit_torch_usable("${FEWBIT_TORCH_ROOT}" usable)
    if(NOT usable)
      set(${error} "FEWBIT_TORCH_ROOT is '${FEWBIT_TORCH_ROOT}', which is no libtorch: \
include/ATen/ATen.h or lib/libtorch_cpu.so is missing there" PARENT_SCOPE)
    endif()
    set(${result} "${FEWBIT_TORCH_ROOT}" PARENT_SCOPE)
    return()
  endif()
  _fewbit_torch_default(folders tried advice)
  _fewbit_torch_of_python(of_python)
  foreach(folder ${folders} ${of_python})
    _fewbit_torch_usable("${folder}" usable)
    if(usable)
      set(${result} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${error} "libtorch was not found. Looked at:
  FEWBIT_TORCH_ROOT, a variable of CMake or of the environment: not set
  ${tried}: no usable torch
  the torch of python3: ${of_python}
${advice}" PARENT_SCOPE)
endfunction()

# The second place to look at, and what to do where nothing is found.
function(_fewbit_torch_default folders tried advice)
  set(${advice} "Set FEWBIT_TORCH_ROOT to the folder of a libtorch that holds include/ and lib/."
    PARENT_SCOPE)
  if(FEWBIT_VENV STREQUAL "" AND DEFINED fewbit_torch_of_build)
    set(${folders} "${fewbit_torch_of_build}" PARENT_SCOPE)
    set(${tried} "the libtorch of fewbit's own build, ${fewbit_torch_of_build}" PARENT_SCOPE)
    return()
  endif()
  set(environment "${FEWBIT_VENV}")
  if(environment STREQUAL "")
    set(environment "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../.venv")
    set(${advice} "`scripts/setup runtime` installs it; -DFEWBIT_BUILD_TORCH=OFF builds without it."
      PARENT_SCOPE)
  endif()
  cmake_path(ABSOLUTE_PATH environment NORMALIZE)
  _fewbit_torch_in_environment("${environment}" found)
  set(${folders} ${found} PARENT_SCOPE)
  set(${tried} "the virtual environment ${environment}" PARENT_SCOPE)
endfunction()

# The version that the headers state: in headeronly/ since 2.9, in the C++ interface before. Empty
# where they do not.
function(_fewbit_torch_version folder result)
  set(${result} "" PARENT_SCOPE)
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
endfunction()

# libtorch's CUDA runtime, a library of the same pip environment or of the zip itself, and its major
# version; both empty where there is none.
function(_fewbit_torch_cudart folder result version)
  set(${result} "" PARENT_SCOPE)
  set(${version} "" PARENT_SCOPE)
  if(EXISTS "${folder}/lib/libtorch_cuda.so" AND EXISTS "${folder}/lib/libc10_cuda.so")
    file(GLOB files "${folder}/lib/libcudart*.so.*" "${folder}/../nvidia/*/lib/libcudart.so.*")
    foreach(file IN LISTS files)
      cmake_path(NORMAL_PATH file)
      set(${result} "${file}" PARENT_SCOPE)
      string(REGEX REPLACE ".*\\.so\\.([0-9]+).*" "\\1" major "${file}")
      set(${version} "${major}" PARENT_SCOPE)
      break()
    endforeach()
  endif()
endfunction()

# Finds folder and version, or says why not.
function(_fewbit_torch_find)
  _fewbit_torch_folder(folder error)
  set(version)
  if(error STREQUAL "")
    _fewbit_torch_version("${folder}" version)
    if(version STREQUAL "")
      set(error "no TORCH_VERSION_MAJOR in the headers below ${folder}/include/torch")
    elseif(version VERSION_LESS _fewbit_torch_oldest)
      set(error "libtorch ${version} in ${folder} is too old: ${_fewbit_torch_oldest} or newer is \
needed")
    endif()
  endif()
  set(FEWBIT_TORCH_FOLDER "${folder}" PARENT_SCOPE)
  set(FEWBIT_TORCH_VERSION "${version}" PARENT_SCOPE)
  set(FEWBIT_TORCH_ERROR "${error}" PARENT_SCOPE)
  _fewbit_torch_cudart("${folder}" cudart cuda)
  set(_fewbit_torch_cudart "${cudart}" PARENT_SCOPE)
  set(FEWBIT_TORCH_CUDA "${cuda}" PARENT_SCOPE)
endfunction()

function(_fewbit_torch_library name file)
  add_library(fewbit::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(fewbit::${name} PROPERTIES
    IMPORTED_LOCATION "${file}" IMPORTED_NO_SONAME FALSE)
endfunction()

_fewbit_torch_find()
if(FEWBIT_TORCH_ERROR)
  if(NOT CMAKE_FIND_PACKAGE_NAME)
    message(FATAL_ERROR "${FEWBIT_TORCH_ERROR}")
  endif()
elseif(NOT TARGET fewbit::torch)
  message(STATUS "libtorch ${FEWBIT_TORCH_VERSION}: ${FEWBIT_TORCH_FOLDER}")
  find_package(Threads REQUIRED)
  foreach(library c10 torch_cpu)
    _fewbit_torch_library(${library} "${FEWBIT_TORCH_FOLDER}/lib/lib${library}.so")
  endforeach()
  add_library(fewbit::torch INTERFACE IMPORTED GLOBAL)
  # What libtorch_cpu itself needs, CUDA's libraries among it, it finds by its own run path.
  target_link_libraries(fewbit::torch INTERFACE fewbit::torch_cpu fewbit::c10 Threads::Threads)
  target_include_directories(fewbit::torch SYSTEM INTERFACE
    "${FEWBIT_TORCH_FOLDER}/include" "${FEWBIT_TORCH_FOLDER}/include/torch/csrc/api/include")
  target_compile_features(fewbit::torch INTERFACE cxx_std_17)
  if(FEWBIT_TORCH_CUDA)
    foreach(library c10_cuda torch_cuda)
      _fewbit_torch_library(${library} "${FEWBIT_TORCH_FOLDER}/lib/lib${library}.so")
    endforeach()
    _fewbit_torch_library(torch_cudart "${_fewbit_torch_cudart}")
  endif()
endif()
