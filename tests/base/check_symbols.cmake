# Nothing of xxHash or uthash may leave the library, and nothing without the prefix may be global.
# cmake -DNM=... -DLIBRARY=... -P check_symbols.cmake
execute_process(COMMAND ${NM} -g --defined-only ${LIBRARY} OUTPUT_VARIABLE out RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} failed on ${LIBRARY}")
endif()
if(NOT out MATCHES " T twpa__hash64\n")
  message(FATAL_ERROR "twpa__hash64 is not in ${LIBRARY}: this test looks at the wrong file")
endif()
string(REGEX MATCHALL "[0-9a-f]+ [A-Za-z] [^\n]+" lines "${out}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^[0-9a-f]+ [A-Za-z] " "" symbol "${line}")
  if(symbol MATCHES "[Xx][Xx][Hh]|[Uu][Tt]_?hash|HASH_" OR
     NOT symbol MATCHES "^(twpa_|__odr_asan|__asan|__ubsan|__gcov|__llvm|__prof)")
    message(SEND_ERROR "a symbol that must not leave the library: ${line}")
  endif()
endforeach()
