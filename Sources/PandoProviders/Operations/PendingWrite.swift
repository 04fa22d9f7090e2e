public import PandoModels
import PandoSystem

/// A change that Pando writes to disk in the background.
///
/// `setData` and edits of a list are visible immediately, an `update` after its commit.
///
/// ```swift
/// let write = provider.update { $0.text = "Hello!" }
/// let changes = try await write.committed()  // throws the error of a failed write
/// print(changes?.commitNumber ?? 0)
/// ```
///
/// The caller may ignore it: Pando makes the change in any case, and reports a failure to the
/// manager's delegate. Any thread may use it.
public final class PendingWrite: @unchecked Sendable {
  // Sendable because `outcome` and `waiters` are used under `lock` only.

  private enum Outcome {
    case pending
    case unchanged
    indirect case committed(ChangeSet)
    case failed(any Error)

    init(_ result: Result<ChangeSet?, any Error>) {
      switch result {
      case .success(nil): self = .unchanged
      case .success(let changeSet?): self = .committed(changeSet)
      case .failure(let error): self = .failed(error)
      }
    }

    var result: Result<ChangeSet?, any Error>? {
      switch self {
      case .pending: nil
      case .unchanged: .success(nil)
      case .committed(let changeSet): .success(changeSet)
      case .failed(let error): .failure(error)
      }
    }
  }

  /// The locks of all writes.
  ///
  /// A lock of its own would double the size of a write.
  private static let locks = (0..<16).map { _ in Locked(()) }

  /// The change of the collection on which the call was made.
  ///
  /// `nil` for single models, and if the call changed nothing.
  public let change: CollectionChange?
  private var outcome = Outcome.pending
  private var waiters: [CheckedContinuation<ChangeSet?, any Error>] = []

  init(change: CollectionChange? = nil) { self.change = change }

  private var lock: Locked<Void> {
    // The lowest bits of an address are zero, because memory blocks are aligned.
    Self.locks[Int(UInt(bitPattern: ObjectIdentifier(self)) >> 6 & 15)]
  }

  /// Creates the result of a change that was refused at once.
  convenience init(refused error: any Error) {
    self.init()
    finish(.failure(error))
  }

  /// The result of a call that had nothing to change.
  static var done: PendingWrite {
    let write = PendingWrite()
    write.finish(.success(nil))
    return write
  }

  /// The reason why the change was refused or has failed; `nil` if it is committed or pending.
  public var error: (any Error)? {
    lock.withLock { _ in
      guard case .failed(let error) = outcome else { return nil }
      return error
    }
  }

  /// Waits until the change is committed.
  ///
  /// - Returns: The change set of the commit; `nil` if it changed nothing, or if there is no store.
  /// - Throws: The error that refused or failed the change. Pando no longer shows the change then.
  /// - Complexity: O(1), and the wait.
  @discardableResult
  public func committed() async throws -> ChangeSet? {
    try await withCheckedThrowingContinuation { continuation in
      let result = lock.withLock { _ in
        let result = outcome.result
        if result == nil { waiters.append(continuation) }
        return result
      }
      if let result { continuation.resume(with: result) }
    }
  }

  func finish(_ result: Result<ChangeSet?, any Error>) {
    let new = Outcome(result)
    let resumed = lock.withLock { _ in
      if case .pending = outcome { outcome = new }
      return exchange(&waiters, with: [])
    }
    for waiter in resumed { waiter.resume(with: result) }
  }
}
