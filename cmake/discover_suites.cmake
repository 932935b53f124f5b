# cmake -D PROGRAM=… -D PREFIX=… -D OUTPUT=… -P discover_suites.cmake: writes what ctest includes to run
# the suites of a GoogleTest binary, each as one test.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests
  OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} could not list its tests: ${status}\n${listed}")
endif()
# A suite stands at the start of a line and ends with a point; what a type stands for comes after.
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+[.]" suites "${listed}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} has no tests:\n${listed}")
endif()
set(script "")
foreach(suite IN LISTS suites)
  string(REGEX MATCH "[A-Za-z0-9_/]+" suite "${suite}")
  set(test "[==[${PREFIX}${suite}]==]")
  string(APPEND script "add_test(${test} [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])\n")
  # Skipped is a suite of which nothing ran: no case passed, and no list of those that failed follows.
  string(APPEND script "set_tests_properties(${test} PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION "
    "[==[PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\][^\n]*\n(\\[  SKIPPED \\][^\n]*\n)+$]==])\n")
endforeach()
file(WRITE "${OUTPUT}" "${script}")
