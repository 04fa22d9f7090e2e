import CPandoLMDB
import Synchronization

/// A read transaction of its own, with which readers ask for the number of the last commit that is done.
///
/// Kept between questions, because to begin one costs many times what a read costs.
@safe
final class CommitProbe: Sendable {
  private enum State {
    static let none: UInt = 0
    static let busy: UInt = 1
  }

  /// One of ``State``, or the address of the transaction, which is reset.
  ///
  /// Whoever turns it into `busy` has the transaction until it turns it into something else.
  private let state = Atomic<UInt>(State.none)

  /// The number of the last commit that is done.
  ///
  /// - Parameters:
  ///   - environment: The `MDB_env`; the caller is a reader of it.
  ///   - namespaces: What lets it take a slot.
  /// - Returns: `nil` if there is no slot to ask with.
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
      // Another reader has stored its own, or this one can't be used again.
      if let transaction = unsafe transaction { unsafe mdb_txn_abort(transaction) }
      if found != State.busy { state.store(State.none, ordering: .releasing) }
    } else {
      unsafe mdb_txn_reset(transaction)
      state.store(UInt(bitPattern: transaction), ordering: .releasing)
    }
    return number
  }

  /// Ends the transaction, so that its slot is free.
  ///
  /// - Returns: `false` if there is none, or it is in use.
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
