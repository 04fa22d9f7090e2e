@preconcurrency import Glibc  // for `stderr`, a variable that C leaves open to all

/// Prints to the C library's standard error stream, as liblmdb does before it aborts.
func printLikeC(_ text: String) {
  fputs(text, stderr)
}
