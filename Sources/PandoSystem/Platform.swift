// The one file that names the C library; whoever needs it imports PandoSystem.

#if canImport(Musl)
  @_exported public import Musl
#else
  @_exported public import Glibc
#endif
