#!/bin/sh
# Compiles the trace buffers of a Perfetto checkout (v53 or later) as a plug-in of ringscope. The
# checkout is not changed. 'ringscope plugin build' runs this with these variables:
#   CHECKOUT  folder of Perfetto
#   COMMIT    of git, to build in place of what is checked out; empty: none
#   OUT       GN build folder with generated headers; empty: the newest one of the checkout
#   CXX       compiler, and what precedes its arguments: "ccache g++"
#   ASAN      not empty: compile the buffers with AddressSanitizer
#   JOBS      compilers that run at once
#   PLUGIN    file to write
#   ADAPTER, PLUGIN_ABI  the texts of perfetto_adapter.cc and of ringscope/plugin_abi.h
# Prints "sources N", and lines that begin with "note ". If it fails, the reason follows.

main=$CHECKOUT
for name in main OUT PLUGIN; do  # as absolute paths
  eval "path=\$$name"
  case $path in '' | /*) ;; *) eval "$name=\$PWD/\$path" ;; esac
done
checkout=$main

exec 3>&1
fail() {
  echo "$1" >&3
  exit 1
}
work=$(mktemp -d "${TMPDIR:-/tmp}/ringscope-build-XXXXXX") ||
  fail "cannot create a folder in ${TMPDIR:-/tmp} (set TMPDIR to a folder with space)"
case $work in /*) ;; *) work=$PWD/$work ;; esac
clean_up() {
  trap '' INT TERM HUP
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
# Runs a program; what it prints is shown if it fails.
run() {
  "$@" >"$work/log" 2>&1 || fail "$1 ended with status $?:
$(head -n 30 "$work/log")"
}
in_git() {
  GIT_INDEX_FILE=$work/index git -C "$main" "$@" 2>"$work/log" || fail "git ended with status $?:
$(head -n 30 "$work/log")"
}
# Takes from git the files that the buffers and GN need, as a tree of their own: of a partial clone
# git fetches no others.
take_commit() {
  files='(include|src/(base|ipc|kallsyms|protovm|protozero|tracing)|protos|gn|build_overrides|buildtools|python|tools)/|(.*/)?[^/]*\.gni?$'
  in_git ls-tree -r "$COMMIT" >"$work/tree"
  grep -E "$(printf '\t')($files)" "$work/tree" | in_git update-index --add --index-info || exit
  tree=$(in_git write-tree --missing-ok) || exit
  mkdir "$checkout" && in_git archive -o "$work/files.tar" "$tree" && run tar -xf "$work/files.tar" -C "$checkout"
}
# $1: the checkout's name in messages
check_checkout() {
  [ -e "$checkout/$service.h" ] ||
    fail "$1: expected a Perfetto checkout, but there is no $service.h (give the folder that has Perfetto's src, include and protos)"
  [ -e "$checkout/${service}_v1.h" ] ||
    fail "$1: expected Perfetto v53 or later, but there is no ${service}_v1.h (v52 and earlier have one class TraceBuffer; check a later release out)"
}

service=src/tracing/service/trace_buffer
check_checkout "$CHECKOUT"
if [ -n "$COMMIT" ]; then
  checkout=$work/checkout
  take_commit
  check_checkout "commit $COMMIT"
fi

# Generated headers: in the folder given, in the checkout's newest build folder, or in one that is
# made for it. A commit's are made, as they may differ.
stats=gen/protos/perfetto/common/trace_stats.gen
build_flags=gen/build_config/perfetto_build_flags.h
gn_arguments='is_debug=false is_clang=false is_hermetic_clang=false use_custom_libcxx=false perfetto_use_system_protobuf=true perfetto_use_system_zlib=true skip_buildtools_check=true'
targets='protos/perfetto/common:cpp protos/perfetto/common:zero protos/perfetto/trace:zero'
[ ! -e "$checkout/protos/perfetto/protovm" ] || targets="$targets protos/perfetto/protovm:zero"
how="in the checkout: 'tools/gn gen out/ringscope --args=\"$gn_arguments\"', then 'tools/ninja -C out/ringscope $targets'"
build=$OUT
gn=
if [ -z "$OUT" ]; then
  newest=$(ls -t "$main"/out/*/"$stats.h" 2>"$work/log" | while IFS= read -r header; do
    [ ! -e "${header%/"$stats.h"}/$build_flags" ] || { echo "$header"; break; }
  done)
  build=${newest%/"$stats.h"}
  gn=$(command -v gn || command -v "$main/tools/gn")
fi
has_headers=
[ ! -e "$build/$stats.h" ] || [ ! -e "$build/$build_flags" ] || has_headers=yes
if [ -n "$has_headers" ] && [ -z "$COMMIT" ]; then
  :
elif [ -n "$gn" ]; then
  [ -e "$checkout/.gn" ] ||
    fail "$CHECKOUT: the checkout has no .gn: gn cannot make its build folder from these files (clone Perfetto as a whole, or name a build folder with its generated headers with --out)"
  build=$work/out
  cd "$checkout" || exit
  run "$gn" gen "$build" --root="$checkout" --args="$gn_arguments"
  run "$(command -v ninja || echo "$main/tools/ninja")" -C "$build" $targets
  cd "$OLDPWD" || exit
elif [ -n "$has_headers" ]; then
  why=
  [ -n "$OUT" ] || why=', as gn is not in PATH'
  echo "note the generated headers are those of $build, not the commit's$why"
elif [ -n "$OUT" ]; then
  missing=$build_flags
  [ ! -e "$build/$build_flags" ] || missing=$stats.h
  fail "$build: expected a build folder of Perfetto, but there is no $missing ($how)"
else
  fail "there is no build folder with Perfetto's generated headers: none of $main/out/* has both $stats.h and $build_flags ($how; or give another folder with --out)"
fi

# What git calls the sources; empty: they are not in git.
version=$(git -C "$main" describe --tags --always ${COMMIT:---dirty} 2>"$work/log")
case $version in *[!A-Za-z0-9._/+-]*) version= ;; esac

mkdir -p "$work/include/ringscope" &&
  printf %s "$PLUGIN_ABI" >"$work/include/ringscope/plugin_abi.h" &&
  printf %s "$ADAPTER" >"$work/perfetto_adapter.cc" ||
  fail "cannot write to $work (set TMPDIR to a folder with space)"
unset PLUGIN_ABI ADAPTER

# The sources that the buffers of any release need, as far as this one has them.
sources=
for source in ${service}_v1 ${service}_v2 src/tracing/core/trace_packet \
  src/base/crash_keys src/base/default_platform src/base/file_utils src/base/intrusive_list \
  src/base/intrusive_tree src/base/logging src/base/paged_memory src/base/pipe src/base/status \
  src/base/string_utils src/base/utils \
  src/protovm/allocator src/protovm/error_handling src/protovm/executor src/protovm/node \
  src/protovm/parser src/protovm/ro_cursor src/protovm/rw_proto src/protovm/rw_proto_cursor \
  src/protovm/vm \
  src/protozero/field src/protozero/gen_field_helpers src/protozero/message \
  src/protozero/message_arena src/protozero/packed_repeated_fields src/protozero/proto_decoder \
  src/protozero/scattered_heap_buffer src/protozero/scattered_stream_writer \
  src/protozero/virtual_destructors; do
  [ ! -e "$checkout/$source.cc" ] || sources="$sources $source"
done
sources="$sources $stats"

flags='-std=c++17 -O2 -g1 -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -w -DNDEBUG'
# A program with AddressSanitizer has its symbols.
link_flag=-Wl,--no-undefined
[ -z "$ASAN" ] || link_flag=-fsanitize=address
[ -z "$ASAN" ] || flags="$flags -fsanitize=address"
adapter_flags=
[ -z "$version" ] || adapter_flags="-DRINGSCOPE_ADAPTER_VERSION=\"$version\""

export CXX work checkout build flags adapter_flags
printf '%s\n' perfetto_adapter $sources | xargs -P "$JOBS" -n 1 sh -c '
  own_flags="-DPERFETTO_IMPLEMENTATION -D_GNU_SOURCE"
  case $1 in
    perfetto_adapter) source=$work/$1.cc own_flags=$adapter_flags ;;
    gen/*) source=$build/$1.cc ;;
    *) source=$checkout/$1.cc ;;
  esac
  object=$work/$(printf %s "$1" | tr / _).o
  $CXX $flags $own_flags -I"$work/include" -I"$checkout" -I"$checkout/include" -I"$build/gen" \
    -I"$build/gen/build_config" -c "$source" -o "$object" >"$object.log" 2>&1 && exit
  echo "${CXX%% *} ended with status $?:" >"$object.failed"
  cat "$object.log" >>"$object.failed"
  exit 255' compile 2>"$work/log" || {
  set -- "$work"/*.failed
  [ -e "$1" ] || set -- "$work/log"
  fail "$(head -n 30 "$1")"
}
run $CXX -shared -o "$PLUGIN" "$work"/*.o $link_flag -Wl,--gc-sections -Wl,-Bsymbolic -lpthread
set -- $sources
echo "sources $#"
