# Run by CPack over the files that it is about to package: compresses what Debian wants compressed,
# without the time of compression, so that the same files give the same package.
file(GLOB_RECURSE files "${CPACK_TEMPORARY_DIRECTORY}/*/man/man?/*"
     "${CPACK_TEMPORARY_DIRECTORY}/*/doc/ringscope/changelog")
list(FILTER files EXCLUDE REGEX "\\.gz$")
if(files)
  execute_process(COMMAND gzip -9n ${files} COMMAND_ERROR_IS_FATAL ANY)
endif()
