# Run by CPack over the files that it is about to package: compresses what Debian wants compressed,
# without the time of compression, so that the same files give the same package.
file(GLOB_RECURSE files "${CPACK_TEMPORARY_DIRECTORY}/*")
list(FILTER files INCLUDE REGEX "/share/(man/man[0-9]/[^/]*\\.[0-9]|doc/ringscope/changelog)$")
if(NOT files)
  message(FATAL_ERROR "no manual page and no changelog in ${CPACK_TEMPORARY_DIRECTORY}")
endif()
execute_process(COMMAND gzip -9n ${files} COMMAND_ERROR_IS_FATAL ANY)

# Without it CPack makes a package that depends on nothing, and only says so.
find_program(dpkg_shlibdeps dpkg-shlibdeps NO_CACHE)
if(NOT dpkg_shlibdeps)
  message(FATAL_ERROR "dpkg-shlibdeps, which finds the package's dependencies, is not there: "
                      "install the Debian package dpkg-dev")
endif()
