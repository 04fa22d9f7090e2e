import CPandoLMDB
import Synchronization

/// A separate read transaction with which readers find the number of the last completed commit.
///
/// It is reused, because beginning one costs many times more than a read.
@safe
final class CommitProbe: Sendable {
  private enum State {
    static let none: UInt = 0
    static let busy: UInt = 1
  }

  /// One of ``State``, or the address of the transaction, which has been reset.
  ///
  /// A thread that changes it to `busy` owns the transaction until it changes it again.
  private let state = Atomic<UInt>(State.none)

  /// The number of the last completed commit.
  ///
  /// - Parameters:
  ///   - environment: The `MDB_env`; the caller is one of its readers.
  ///   - namespaces: The guard of the section in which it takes a slot.
  /// - Returns: `nil` if no slot is free.
  func lastCommit(in environment: OpaquePointer, _ namespaces: NamespaceGuard?) -> Int? {
    let found = state.exchange(State.busy, ordering: .acquiring)
    var transaction = unsafe found == State.busy ? nil : OpaquePointer(bitPattern: found)
    let status: CInt
    if let transaction = unsafe transaction {
      status = unsafe mdb_txn_renew(transaction)
    } else {
      status = unsafe namespaces.beginReader(environment, &transaction)
    }
    let number = unsafe status == 0 ? mdb_txn_id(transaction) : nil
    if found == State.busy || status != 0 {
      // Another reader has stored its own transaction, or this one can't be used again.
      if let transaction = unsafe transaction { unsafe mdb_txn_abort(transaction) }
      if found != State.busy { state.store(State.none, ordering: .releasing) }
    } else {
      unsafe mdb_txn_reset(transaction)
      state.store(UInt(bitPattern: transaction), ordering: .releasing)
    }
    return number
  }

  /// Ends the transaction, which frees its slot.
  ///
  /// - Returns: `false` if there is none, or if it is in use.
  @discardableResult
  func end() -> Bool {
    let found = state.load(ordering: .relaxed)
    guard found != State.none, found != State.busy else { return false }
    let (isMine, _) = state.compareExchange(
      expected: found, desired: State.none, ordering: .acquiring)
    guard isMine else { return false }
    unsafe mdb_txn_abort(OpaquePointer(bitPattern: found))
    return true
  }
}
