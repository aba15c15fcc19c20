# The Debian package: `cpack -G DEB` in a build folder makes ringscope_VERSION_ARCH.deb.

set(doc_dir "${CMAKE_INSTALL_DATADIR}/doc/ringscope")
install(FILES "${PROJECT_SOURCE_DIR}/cmake/package/copyright" DESTINATION "${doc_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/CHANGELOG.md" DESTINATION "${doc_dir}" RENAME changelog)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringscope)
set(CPACK_PACKAGE_CONTACT "The ringscope maintainers <maintainers@ringscope.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "replay and explain Perfetto's trace buffers")
set(CPACK_PACKAGE_DESCRIPTION
"ringscope records what producers commit to Perfetto's tracing service,
replays it through exact reimplementations of the released trace buffers, of
any size and fill policy, and explains which packets were lost, why, and what
would have kept them.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Compresses manual pages and the changelog, as Debian wants it.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package/prepare.cmake")
include(CPack)
