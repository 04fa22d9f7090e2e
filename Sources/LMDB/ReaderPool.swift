import Locking
import CLMDB
import Dispatch
import Glibc

/// The read transactions of one environment, and the gate they pass.
///
/// The map may move only while no read transaction is open. So a reader enters, and leaves, and
/// while the gate is closed new readers wait. A thread that reads already is let through: the one
/// who closed the gate waits for it anyway.
final class ReaderPool: Sendable {
  /// A place for one open read transaction.
  @safe
  struct Slot {
    /// The transaction, reset between uses; `nil` if none was begun here.
    var transaction: OpaquePointer?
    /// When the current use began, on the coarse monotonic clock; 0 between uses.
    var startInNanoseconds: UInt64 = 0
  }

  /// What the lock protects.
  struct State {
    var slots: [Slot] = []
    /// Slots not in use; those with a transaction come last and are used first.
    var free: [Int] = []
    var activeCount = 0
    var idleCount = 0
    var isGateClosed = false
    var isShutDown = false
    /// Threads that wait for the gate to open.
    var waiting: [DispatchSemaphore] = []
    /// Who waits for the last reader to leave.
    var drained: DispatchSemaphore?
  }

  /// A reader's ticket.
  ///
  /// Sendable because the slot is this reader's alone until it leaves.
  @safe
  struct Ticket: @unchecked Sendable {
    let slot: Int
    /// A transaction to renew, or `nil` if one has to be begun.
    var transaction: OpaquePointer?
    /// How many reads the thread was inside before.
    var depth = 0

    /// The same ticket, giving back a transaction that has been reset.
    func holding(_ transaction: OpaquePointer?) -> Ticket {
      unsafe Ticket(slot: slot, transaction: transaction, depth: depth)
    }
  }

  let state = Locked(State())
  private let idleCountMax: Int
  private let depth: ThreadCounter

  init(idleCountMax: Int) throws(LMDBError) {
    self.idleCountMax = idleCountMax
    depth = try ThreadCounter()
  }

  /// Whether the calling thread is inside a read.
  var isReadingOnThisThread: Bool { depth.value > 0 }

  /// Enters; waits while the gate is closed.
  ///
  /// - Throws: ``LMDBError`` with code `closed` after the end.
  func enter() throws(LMDBError) -> Ticket {
    let outerDepth = depth.value
    while true {
      var barrier: DispatchSemaphore?
      let ticket = state.withLock { state -> Ticket? in
        if state.isShutDown { return nil }
        if state.isGateClosed, outerDepth == 0 {
          let semaphore = DispatchSemaphore(value: 0)
          state.waiting.append(semaphore)
          barrier = semaphore
          return nil
        }
        return state.take()
      }
      if var ticket {
        depth.value = outerDepth + 1
        ticket.depth = outerDepth
        return ticket
      }
      guard let barrier else { throw LMDBError(.closed, function: "read") }
      barrier.wait()
    }
  }

  /// Leaves; the ticket's transaction, which has been reset, is kept for the next reader.
  func leave(_ ticket: Ticket) {
    depth.value = ticket.depth
    guard !state.withLock({ $0.putBack(ticket, idleCountMax: idleCountMax) }) else { return }
    // Too many are kept. Still inside: nobody can close the environment before this one is ended.
    if let transaction = unsafe ticket.transaction { unsafe mdb_txn_abort(transaction) }
    var empty = ticket
    unsafe empty.transaction = nil
    _ = state.withLock { $0.putBack(empty, idleCountMax: idleCountMax) }
  }
}

extension ReaderPool.State {
  /// Takes a free slot, or a new one.
  fileprivate mutating func take() -> ReaderPool.Ticket {
    activeCount += 1
    let index: Int
    if let last = free.popLast() {
      index = last
    } else {
      slots.append(ReaderPool.Slot())
      index = slots.count - 1
    }
    if unsafe slots[index].transaction != nil { idleCount -= 1 }
    slots[index].startInNanoseconds = coarseNanoseconds()
    return unsafe ReaderPool.Ticket(slot: index, transaction: slots[index].transaction)
  }

  /// Frees a slot, and wakes whoever waits for the last reader to leave.
  ///
  /// - Returns: `false`, and nothing was done, if the transaction is one too many to keep.
  fileprivate mutating func putBack(_ ticket: ReaderPool.Ticket, idleCountMax: Int) -> Bool {
    if unsafe ticket.transaction != nil, idleCount >= idleCountMax { return false }
    activeCount -= 1
    unsafe slots[ticket.slot] = ReaderPool.Slot(transaction: ticket.transaction)
    if unsafe ticket.transaction == nil {
      free.insert(ticket.slot, at: 0)
    } else {
      idleCount += 1
      free.append(ticket.slot)
    }
    if activeCount == 0, let drained {
      self.drained = nil
      drained.signal()
    }
    return true
  }
}

/// Nanoseconds on the monotonic clock, exact to a few milliseconds, for a few nanoseconds of work.
func coarseNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
