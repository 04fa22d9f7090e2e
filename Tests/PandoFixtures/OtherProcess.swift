/// Another process that writes people into a store: the program `StoreTestProcess`, which lies beside the
/// tests.
public struct OtherProcess: Sendable {
  private let process: ChildProcess

  /// Its number.
  public var identifier: Int32 { process.identifier }

  /// Starts it.
  ///
  /// - Parameters:
  ///   - path: The directory of the store.
  ///   - isSilent: Whether its commits wake nobody, as those of a writer that is killed in time.
  /// - Throws: What keeps it from starting.
  public init(_ path: String, isSilent: Bool = false) throws {
    process = try ChildProcess(
      "PandoStoreTestProcess", [isSilent ? "write-people-silently" : "write-people", path])
  }

  /// Has one line carried out, and waits until that is committed.
  ///
  /// - Parameters:
  ///   - text: `set ID NAME`, `delete ID`, `append ID KEY`, `insert ID KEY` at the front, `remove INDEX KEY`,
  ///     `rename ID TIMES` (a commit each), or `hold`: keeps the writer's lock until the next text, whatever
  ///     that is.
  ///   - file: Where; the watchdog names it when the process does not answer.
  ///   - line: Where.
  /// - Throws: ``Ended`` when the process has gone.
  public func perform(
    _ text: String, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    try process.write("\(text)\n")
    guard process.nextLine(file: file, line: line) != nil else { throw Ended() }
  }

  /// Has one line carried out, and does not wait.
  ///
  /// - Parameter text: As for ``perform(_:file:line:)``.
  /// - Throws: What keeps it from reading.
  public func begin(_ text: String) throws { try process.write("\(text)\n") }

  /// Ends it as a crash would, and waits for its end.
  ///
  /// - Parameters:
  ///   - file: Where; the watchdog names it when the end never comes.
  ///   - line: Where.
  public func kill(file: StaticString = #fileID, line: UInt = #line) {
    process.kill(file: file, line: line)
  }

  /// It ended before it was told to.
  public struct Ended: Error {
    /// Says no more.
    public init() {}
  }

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
