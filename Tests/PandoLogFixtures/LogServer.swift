public import PandoReplication

/// An engine with a log, as the tests use it that every log has to pass.
public protocol LogServer: AnyObject, Sendable {
  /// Connects to the log, which is made if it is not there.
  func makeLog() throws -> any ReplicationLog
  /// Ends the engine, as a crash does.
  func kill() throws
  /// Starts it, and waits until it answers.
  func start() throws
  /// Lets it stand still; it does when this returns.
  func stop() throws
  /// Lets it go on.
  func go() throws
  /// Lets the log forget the messages before a position.
  func forget(before position: UInt64) throws
  /// Keeps a copy of what the engine has on its disk.
  func keep() throws
  /// Has the engine be as it was when that was kept: what it has acknowledged since is lost.
  func rewind() throws
  /// Removes the log with the copies beside it.
  func remove() throws
}
