import Pando
import Synchronization

/// The result that the changes of a followed query, or of a list, lead to.
final class QueryChanges: Sendable {
  private let name: String
  private let ledger: Ledger
  private let known = Mutex<[Models.Item]?>(nil)

  init(_ name: String, _ ledger: Ledger) {
    self.name = name
    self.ledger = ledger
  }

  /// Returns the result of a change; the change, applied to the result before, must lead to it.
  func follow(_ change: FollowedChange<Models.Item>) -> [Models.Item] {
    follow(change.change, change.result.entities)
  }

  /// Returns the list of a change; the change, applied to the list before, must lead to it.
  func follow(_ change: CollectionProviderChange<Models.Item>) -> [Models.Item] {
    follow(change.change, change.data)
  }

  private func follow(_ change: CollectionChange, _ result: [Models.Item]) -> [Models.Item] {
    known.withLock { known in
      if let before = known, case .changes(let changes) = change {
        var slots: [Models.Item?] = before
        slots.apply(changes) { _ in nil }
        let isSame =
          slots.count == result.count && zip(slots, result).allSatisfy { $0 == nil || $0 == $1 }
        ledger.require(
          isSame,
          "\(name): \(changes) of \(before.map(\.text)) do not lead to \(result.map(\.text))")
      }
      known = result
    }
    return result
  }
}
