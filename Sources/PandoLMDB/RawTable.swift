import CPandoLMDB

/// A table of byte keys and byte values in one environment.
///
/// Keys are ordered byte by byte; a key that is the beginning of another comes before it. A handle
/// is a small value that stays valid as long as its environment is open.
public struct RawTable: Sendable, Hashable {
  /// LMDB's number of the table.
  let number: MDB_dbi
  /// The environment that opened it.
  let environment: EnvironmentNumber

  /// Stops the process unless the table belongs to the environment.
  @inline(__always)
  func checkBelongs(to other: EnvironmentNumber) {
    precondition(environment == other, "the table was opened in another environment")
  }
}

/// A number that no other environment of this process has, now or later.
struct EnvironmentNumber: Sendable, Hashable {
  let rawValue: UInt32
}
