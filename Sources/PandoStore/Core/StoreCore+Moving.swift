import PandoLMDB
import PandoSystem

/// The state of the file that a write expects.
struct StoreContents {
  /// The identifier of the opened store; `nil` while it is being created.
  var identifier: [UInt8]?
  /// The newest change sets after the last flush of this process, if any.
  var newestChanges: NewestChanges?
  /// The history of the last commit of this process, and the number of that commit.
  var history: (mark: UInt64, last: UInt64)?
}

/// Checks for a store that was moved or exchanged.
///
/// The environment checks the path and the meta pages. Two stores may agree in these, so these
/// methods compare contents.
extension StoreCore {
  /// The error of a write to a moved store.
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

  /// Runs a write, and turns the environment's `fileMoved` into an error of the store.
  func whileInPlace<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as LMDBError where error.code == .fileMoved {
      throw moved(error)
    }
  }

  /// Records the identifier of the opened store.
  func noteIdentity() throws {
    let found = try read { try $0.state(path: path)?.storeIdentifier }
    contents.withLock { $0.identifier = found }
  }

  /// Refuses to write into another store than the opened one.
  ///
  /// - Parameter state: The state row that the write found; `nil` if there is none.
  /// - Throws: ``StoreError`` `storeMoved`.
  func checkIdentity(_ state: StoreState?) throws {
    let isOther = contents.withLock { contents in
      guard let known = contents.identifier else { return false }
      return known != state?.storeIdentifier
    }
    if isOther { throw writtenOver("it holds another store") }
  }

  /// Refuses to write into a copy with another history of the same length.
  ///
  /// Change sets contain their author and time, so no two begin alike.
  ///
  /// - Parameter changes: The newest change sets that the write found.
  /// - Throws: ``StoreError`` `storeMoved`.
  func checkHistory(_ changes: NewestChanges) throws {
    let isOther = contents.withLock { contents in
      guard let known = contents.newestChanges, known.next == changes.next else { return false }
      return !known.hasLastCommit(of: changes)
    }
    if isOther { throw writtenOver("it holds another commit \(changes.next - 1)") }
  }

  /// Records the state after a committed flush.
  ///
  /// - Parameters:
  ///   - changes: The newest change sets; `nil` if unknown.
  ///   - history: The history of its last commit, and that number; `nil` if unknown.
  func didLog(_ changes: NewestChanges?, _ history: (mark: UInt64, last: UInt64)?) {
    contents.withLock {
      $0.newestChanges = changes
      if let history { $0.history = history }
    }
  }

  /// The history and number of the last commit of this process; `nil` if it has made none.
  var history: (mark: UInt64, last: UInt64)? { contents.withLock(\.history) }
}
