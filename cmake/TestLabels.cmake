# Labels of tests, for ctest -L; read by ctest itself. @folder@ is a folder of code. Each test has its
# room as a label ("commands/shell"), and one of: quick (all of them take less than a minute on two
# cores), slow, browser, record.
set(slow "RandomStreamTest|EnginesAgree|LedgerRandomTest|CloneStreams|RemediesTest|GraphsOverTestdata|\
LedgerOverTestdata|HostileTrace|PayloadFreeCapture|SweepCaptureTest|ExportOverTestdata|ExaminedNumbers|\
PluginBuildTest|RecordedSession|NoPayloadCapture|ProvenHoles|ExportOfCapture|TimelineOverCaptures|\
PerfettoReleases|ImportDump|DoctorMemoryTest|MemoryTest|ExitStatus|EngineTable|BufferCi")
set(browser "ChromiumProducers")
file(GLOB sources "@PROJECT_SOURCE_DIR@/@folder@/*_test.cc" "@PROJECT_SOURCE_DIR@/@folder@/*/*_test.cc")
foreach(source IN LISTS sources)
  get_filename_component(room "${source}" DIRECTORY)
  file(RELATIVE_PATH room "@PROJECT_SOURCE_DIR@" "${room}")
  file(STRINGS "${source}" tests REGEX "^TEST(_F|_P)?\\(")
  foreach(test IN LISTS tests)
    if(test MATCHES "\\(([A-Za-z0-9_]+)")
      set(room_of_${CMAKE_MATCH_1} "${room}")
    endif()
  endforeach()
endforeach()
foreach(test IN LISTS @folder@_test_TESTS)
  string(REGEX MATCH "([A-Za-z0-9_]+)\\." suite "${test}")
  set(suite "${CMAKE_MATCH_1}")
  set(room "${room_of_${suite}}")
  if(suite MATCHES "^(${browser})$")
    set(kind browser)
  elseif(room STREQUAL "commands/record" OR suite STREQUAL "RecordProcess")
    set(kind record)
  elseif(suite MATCHES "^(${slow})$")
    set(kind slow)
  else()
    set(kind quick)
  endif()
  set_tests_properties("${test}" PROPERTIES LABELS "${room};${kind}")
endforeach()
