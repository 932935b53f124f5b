# cmake -D COMPILER=... -D FLAGS=a,b -D FOLDER=... -D SUFFIX=hpp -P compile_alone.cmake: every emitted
# header compiles by itself, twice in one program, and with the example of its comment.
string(REPLACE "," ";" FLAGS "${FLAGS}")
file(GLOB HEADERS ${FOLDER}/*.${SUFFIX})
list(SORT HEADERS)
list(LENGTH HEADERS COUNT)
if(COUNT EQUAL 0)
  message(FATAL_ERROR "no headers in ${FOLDER}")
endif()
get_filename_component(NAME ${COMPILER} NAME)
set(WORK ${FOLDER}/../alone_${NAME})
file(MAKE_DIRECTORY ${WORK})
if(SUFFIX STREQUAL "cuh")
  set(EXTENSION cu)
  list(FILTER HEADERS INCLUDE REGEX "b3|b8|unbiased|layer0|own")  # nvcc takes seconds for each
else()
  set(EXTENSION cpp)
endif()
foreach(HEADER IN LISTS HEADERS)
  get_filename_component(STEM ${HEADER} NAME_WE)
  set(SOURCE ${WORK}/${STEM}.${EXTENSION})
  file(WRITE ${SOURCE}
    "#include \"${HEADER}\"\n#include \"${HEADER}\"\n#include \"${HEADER}.example\"\n")
  execute_process(COMMAND ${COMPILER} ${FLAGS} -c ${SOURCE} -o ${WORK}/${STEM}.o
    RESULT_VARIABLE STATUS ERROR_VARIABLE TEXT OUTPUT_VARIABLE TEXT)
  if(NOT STATUS EQUAL 0)
    message(FATAL_ERROR "${HEADER} does not compile alone:\n${TEXT}")
  endif()
endforeach()
