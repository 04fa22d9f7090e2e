/// How a run of the command ends, as the shell sees it.
enum ExitCode: Int32, Sendable {
  /// Everything asked for was done.
  case done = 0
  /// What was asked for is not there: a store, a file, an identifier, a collection, a key.
  case notThere = 1
  /// The arguments are wrong.
  case usage = 2
  /// The input is wrong: not JSON, a node without its identifying field, a cycle.
  case badInput = 3
  /// The store or the system failed: a damaged file, a full disk, missing permissions.
  case failure = 4
}
