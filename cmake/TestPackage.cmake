# The Debian package, as a test: made, unpacked and run. What it depends on is named, manual pages
# are compressed, and nothing of the tests is in it. (scripts/test-debian installs it on a bare
# system.)
# -DBUILD_DIR= -DMANDIR= (below the prefix); skipped where cpack cannot make one.

set(work "${BUILD_DIR}/test_package")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

foreach(tool dpkg-deb dpkg-shlibdeps file)
  find_program(found_${tool} ${tool} NO_CACHE)
  if(NOT found_${tool})
    message("skipped: ${tool} is not installed")
    return()
  endif()
endforeach()

function(run output_name)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${BUILD_DIR}" RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}${errors}")
  endif()
  set(${output_name} "${output}" PARENT_SCOPE)
endfunction()

run(made cpack -G DEB -B "${work}")
file(GLOB package "${work}/*.deb")
run(depends dpkg-deb -f "${package}" Depends)
foreach(library libc6 libzstd1 libsqlite3-0 libprotobuf)
  if(NOT depends MATCHES "${library}")
    message(FATAL_ERROR "the package does not depend on ${library}: ${depends}")
  endif()
endforeach()

run(unpacked dpkg-deb -x "${package}" "${work}/root")
foreach(file bin/ringscope include/ringscope/plugin_abi.h share/bash-completion/completions/ringscope
        share/doc/ringscope/changelog.gz share/doc/ringscope/copyright
        share/ringscope/perfetto_adapter.cc ${MANDIR}/man1/ringscope.1.gz
        ${MANDIR}/man1/ringscope-gaps.1.gz ${MANDIR}/man5/ringscope-commit-log.5.gz)
  if(NOT EXISTS "${work}/root/usr/${file}")
    message(FATAL_ERROR "not in the package: /usr/${file}")
  endif()
endforeach()
file(GLOB_RECURSE others RELATIVE "${work}/root/usr" "${work}/root/*")
list(FILTER others EXCLUDE REGEX "^(bin/ringscope$|include/ringscope/|share/)")
if(others)
  message(FATAL_ERROR "in the package, and not expected there: ${others}")
endif()
run(engines "${work}/root/usr/bin/ringscope" engines)
file(REMOVE_RECURSE "${work}")
