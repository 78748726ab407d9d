# What is installed: the libraries, the headers, and the files by which other builds find them.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/twpa)
foreach(kind IN ITEMS twpa twpa_static)
  if(TARGET ${kind})
    install(TARGETS ${kind} EXPORT ${kind}Targets
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT ${kind}Targets NAMESPACE twpa:: DESTINATION ${config_dir})
  endif()
endforeach()
install(DIRECTORY include/twpa DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/twpaConfig.cmake.in package/twpaConfig.cmake INSTALL_DESTINATION ${config_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the ABI (then the SONAME changes as well); from 1.0 on a major one.
write_basic_package_version_file(package/twpaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/package/twpaConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/package/twpaConfigVersion.cmake
  DESTINATION ${config_dir})

# In the .pc file a relative directory hangs below ${prefix}, an absolute one stands for itself (APPEND replaces then).
set(TWPA_PC_LIBDIR "\${prefix}")
cmake_path(APPEND TWPA_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
set(TWPA_PC_INCLUDEDIR "\${prefix}")
cmake_path(APPEND TWPA_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/twpa.pc.in package/twpa.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/twpa.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
