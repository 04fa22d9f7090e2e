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
  /// - Parameters:
  ///   - text: `set ID NAME`, `delete ID`, `append ID KEY`, `rename ID TIMES` (a commit each), or `hold`: keeps
  ///     the writer's lock until the next text, whatever that is.
  ///   - file: Where; the watchdog names it when the process does not answer.
  ///   - line: Where.
  /// - Throws: ``Ended`` when the process has gone.
  public func perform(
    _ text: String, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    try process.write("\(text)\n")
    guard process.nextLine(file: file, line: line) != nil else { throw Ended() }
  }

  /// It ended before it was told to.
  public struct Ended: Error {}

  /// Lets it end, and waits for its end.
  ///
  /// - Parameters:
  ///   - file: Where; the watchdog names it when the end never comes.
  ///   - line: Where.
  public func end(file: StaticString = #fileID, line: UInt = #line) {
    process.closeInput()
    process.wait(file: file, line: line)
  }
}
