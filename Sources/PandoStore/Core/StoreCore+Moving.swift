import PandoLMDB
import PandoSystem

/// What a write expects in the file.
struct StoreContents {
  /// The identifier of the store that was opened; `nil` while it is being made.
  var identifier: [UInt8]?
  /// The newest change sets, if the last flush of this process has left some.
  var newestChanges: NewestChanges?
  /// The history of the last commit of this process, and that commit.
  var history: (mark: UInt64, last: UInt64)?
}

/// A store that is not where it was opened, or not what it was.
///
/// The environment looks at the path and the meta pages. Two stores may agree in these: what they hold tells them
/// apart.
extension StoreCore {
  /// Why nothing is written.
  func moved(_ cause: any Error) -> StoreError {
    StoreError(
      .storeMoved, path,
      "nothing was written, as the store was moved, removed, replaced or written over while it was open; "
        + "close it, and open it where it is", underlying: cause)
  }

  private func writtenOver(_ detail: String) -> StoreError {
    moved(
      LMDBError(.fileMoved, function: "write", detail: "the data file was written over: \(detail)"))
  }

  /// Runs what writes, and names the store where the environment says that it has moved.
  func whileInPlace<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as LMDBError where error.code == .fileMoved {
      throw moved(error)
    }
  }

  /// Remembers which store was opened.
  func noteIdentity() throws {
    let found = try read { try $0.state(path: path)?.storeIdentifier }
    contents.withLock { $0.identifier = found }
  }

  /// Refuses to write into another store than the one that was opened.
  ///
  /// - Parameter state: The state row that a write has found; `nil` if there is none.
  /// - Throws: ``StoreError`` `storeMoved`.
  func checkIdentity(_ state: StoreState?) throws {
    let isOther = contents.withLock { contents in
      guard let known = contents.identifier else { return false }
      return known != state?.storeIdentifier
    }
    if isOther { throw writtenOver("it holds another store") }
  }

  /// Refuses to write into a copy of the store with another history, which has come as far.
  ///
  /// Change sets name their author and their time, so no two begin alike.
  ///
  /// - Parameter changes: The newest change sets that a write has found.
  /// - Throws: ``StoreError`` `storeMoved`.
  func checkHistory(_ changes: NewestChanges) throws {
    let isOther = contents.withLock { contents in
      guard let known = contents.newestChanges, known.next == changes.next else { return false }
      return !known.hasLastCommit(of: changes)
    }
    if isOther { throw writtenOver("it holds another commit \(changes.next - 1)") }
  }

  /// Remembers what a flush has left that is committed.
  ///
  /// - Parameters:
  ///   - changes: The newest change sets; `nil` if that is not known.
  ///   - history: The history of its last commit, and that commit; likewise.
  func didLog(_ changes: NewestChanges?, _ history: (mark: UInt64, last: UInt64)?) {
    contents.withLock {
      $0.newestChanges = changes
      if let history { $0.history = history }
    }
  }

  /// The history of the last commit of this process, and that commit; `nil` if it has made none.
  var history: (mark: UInt64, last: UInt64)? { contents.withLock(\.history) }
}
