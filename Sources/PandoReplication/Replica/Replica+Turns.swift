import PandoStore
import PandoSystem

/// Machines that write the same nodes one after another, so that none is refused again and again.
///
/// The log shows every machine which writes were refused. The machine that was refused first has the next turn: the
/// others hold back writes to the same nodes, until its entry arrives or ``turnMaximum`` has passed. The validity of
/// entries does not depend on turns.
extension Replica {
  /// A machine whose writes were refused.
  struct Turn {
    let origin: [UInt8]
    /// The position of the entry that was refused first.
    let position: UInt64
    /// The nodes and lists that the machine will write.
    var keys: WriteKeys
    /// When an entry was refused first, and last, in nanoseconds.
    let start: Int64
    var time: Int64
  }

  /// The verdict on an entry, as far as turns need it.
  struct Judgement {
    let origin: [UInt8]
    let position: UInt64
    /// The nodes and lists of its refused writes; `nil` if all are valid.
    let refused: WriteKeys?
  }

  /// Notes the verdicts on applied entries.
  func note(_ judgements: [Judgement]) {
    guard !judgements.isEmpty else { return }
    let now = monotonicNanoseconds()
    endTurns(at: now)
    for judgement in judgements {
      let index = unsafe turns.firstIndex { $0.origin == judgement.origin }
      guard let refused = judgement.refused else {
        if let index { unsafe turns.remove(at: index) }
        continue
      }
      if let index {
        (unsafe turns[index].keys, unsafe turns[index].time) = (refused, now)
      } else {
        unsafe turns.append(
          Turn(
            origin: judgement.origin, position: judgement.position, keys: refused, start: now,
            time: now))
      }
    }
  }

  /// Whether a flush must leave the turn to another machine.
  func isHeldBack(_ writes: [WriteEffects]) -> Bool {
    let now = monotonicNanoseconds()
    endTurns(at: now)
    if unsafe turns.isEmpty { return false }
    var keys = WriteKeys()
    for write in writes { keys.formUnion(WriteKeys(write)) }
    let first = unsafe turns.first { $0.origin == origin || $0.keys.meets(keys) }
    guard let first, first.origin != origin else { return false }
    unsafe awaitedTurn = first.time + turnMaximum
    return true
  }

  /// Ends the turns of machines that do not write, or are refused again however long the others wait.
  private func endTurns(at now: Int64) {
    unsafe turns.removeAll {
      now - $0.time >= turnMaximum || now - $0.start >= 10 * turnMaximum
    }
  }

  /// If a flush was held back, waits until the log has more messages than the store, or until the turn is over.
  func waitForTurn(behind position: UInt64) {
    guard let end = unsafe exchange(&awaitedTurn, with: nil) else { return }
    _ = seen.waiting(until: end) { $0 > position ? () : nil }
  }

  /// In nanoseconds: how long other machines wait for one that was refused.
  private var turnMaximum: Int64 { Int64(configuration.turnMaximum / .nanoseconds(1)) }
}
