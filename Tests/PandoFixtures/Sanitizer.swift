import Glibc

/// Whether the tests were built with a sanitizer, which takes most of the address space and has
/// signals and exits of its own.
public let isSanitized = {
  let program = dlopen(nil, RTLD_NOW)
  return dlsym(program, "__tsan_init") != nil || dlsym(program, "__asan_init") != nil
}()
