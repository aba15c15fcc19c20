# A user's way to a plug-in, as a test: installs plugin_abi.h, builds a plug-in against it with one
# command, and has ringscope look at it. Also compiles the header alone as C11 and as C++.
# -DBUILD_DIR= -DSOURCE_DIR= -DINCLUDE_DIR= (below the prefix) -DCC= -DCXX= -DRINGSCOPE=

set(prefix "${BUILD_DIR}/installed_header")
file(REMOVE_RECURSE "${prefix}")

function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${BUILD_DIR}" RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${status}\n${output}")
  endif()
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --component plugin_abi --prefix "${prefix}")
set(include "-I${prefix}/${INCLUDE_DIR}")
set(strict -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror)
set(header "${prefix}/${INCLUDE_DIR}/ringscope/plugin_abi.h")
run("${CC}" -std=c11 ${strict} -fsyntax-only -x c "${header}")
run("${CXX}" -std=c++11 ${strict} -fsyntax-only -x c++ "${header}")
run("${CC}" -std=c11 -shared -fPIC -fvisibility=hidden -DRS_FAULT=0 "${include}"
    "${SOURCE_DIR}/commands/testing/test_plugin.c" -o "${prefix}/libmybuffer.so")
run("${RINGSCOPE}" engines "${prefix}/libmybuffer.so")
