/// Another process that writes people into a store: the program `StoreTestProcess`, which lies beside the
/// tests.
public struct OtherProcess: Sendable {
  private let process: ChildProcess

  /// Starts it.
  ///
  /// - Parameter path: The directory of the store.
  /// - Throws: What keeps it from starting.
  public init(_ path: String) throws {
    process = try ChildProcess("PandoStoreTestProcess", ["write-people", path])
  }

  /// Has one line carried out, and waits until that is committed.
  ///
  /// - Parameter line: `set ID NAME` or `delete ID`.
  /// - Throws: ``Ended`` when the process has gone.
  public func perform(_ line: String) throws {
    try process.write("\(line)\n")
    guard process.nextLine() != nil else { throw Ended() }
  }

  /// It ended before it was told to.
  public struct Ended: Error {}

  /// Lets it end, and waits for its end.
  public func end() {
    process.closeInput()
    process.wait()
  }
}
