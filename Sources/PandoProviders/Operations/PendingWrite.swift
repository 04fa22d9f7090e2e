public import PandoModels
import PandoSystem

/// A change that is shown already and takes its way to the disk.
///
/// ```swift
/// let write = provider.update { $0.text = "Hello!" }
/// let changes = try await write.committed()  // throws what has kept it from the disk
/// print(changes?.commitNumber ?? 0)
/// ```
///
/// It can be ignored: the change is made all the same, and a failure is told to the manager's
/// delegate. Any thread may use it.
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

  /// Locks that all writes share: one of its own would be as large as the rest of a write.
  private static let locks = (0..<16).map { _ in Locked(()) }

  /// What the call did to the collection it was made on; `nil` for single models, and when the call
  /// changed nothing.
  public let change: CollectionChange?
  private var outcome = Outcome.pending
  private var waiters: [CheckedContinuation<ChangeSet?, any Error>] = []

  init(change: CollectionChange? = nil) { self.change = change }

  private var lock: Locked<Void> {
    // Blocks of memory are aligned, so the lowest bits say nothing.
    Self.locks[Int(UInt(bitPattern: ObjectIdentifier(self)) >> 6 & 15)]
  }

  /// A change that was refused at once; nothing has changed.
  convenience init(refused error: any Error) {
    self.init()
    finish(.failure(error))
  }

  /// A change that there was nothing to do for.
  static var done: PendingWrite {
    let write = PendingWrite()
    write.finish(.success(nil))
    return write
  }

  /// Why the change was refused or has failed; `nil` if it is done or on its way.
  public var error: (any Error)? {
    lock.withLock { _ in
      guard case .failed(let error) = outcome else { return nil }
      return error
    }
  }

  /// Waits until the change is committed.
  ///
  /// - Returns: What the commit changed; `nil` if it changed nothing, or if there is no store.
  /// - Throws: What refused the change or made it fail; then it is shown no longer.
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
