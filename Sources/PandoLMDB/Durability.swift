/// What a commit promises when the power fails.
///
/// A crash of the process alone loses nothing at any level: committed pages are in the page cache
/// of the system.
public enum Durability: Sendable, Hashable, CaseIterable {
  /// A commit that returned is on the disk.
  ///
  /// Two flushes a commit: the pages, then the meta page.
  case full
  /// A power cut may lose the newest commits; what is left is a whole earlier version.
  ///
  /// One flush a commit: the pages. The meta page follows with the next one, or with
  /// ``Environment/sync()``. LMDB: `MDB_NOMETASYNC`.
  case consistent
  /// A power cut may lose commits and **may damage the file**.
  ///
  /// No flush; the system writes when it likes, in any order. For data that can be made again.
  /// LMDB: `MDB_NOSYNC`.
  case unsynchronized
}
