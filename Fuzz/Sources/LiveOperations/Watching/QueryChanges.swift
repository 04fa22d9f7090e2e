import Pando
import Synchronization

/// What the changes of a followed query lead to.
final class QueryChanges: Sendable {
  private let name: String
  private let ledger: Ledger
  private let known = Mutex<[Models.Item]?>(nil)

  init(_ name: String, _ ledger: Ledger) {
    self.name = name
    self.ledger = ledger
  }

  /// Returns the result of a change; what it did to the one before must lead to it.
  func follow(_ change: ContinuousChange<Models.Item>) -> [Models.Item] {
    let result = change.result.entities
    known.withLock { known in
      if let before = known, case .changes(let changes) = change.change {
        var slots: [Models.Item?] = before
        slots.apply(changes) { _ in nil }
        let isSame =
          slots.count == result.count && zip(slots, result).allSatisfy { $0 == nil || $0 == $1 }
        ledger.require(
          isSame,
          "query \(name): \(changes) of \(before.map(\.text)) do not lead to \(result.map(\.text))")
      }
      known = result
    }
    return result
  }
}
