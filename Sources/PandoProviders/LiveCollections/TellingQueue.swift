import FoundationEssentials
import PandoModels

/// A change that a member is to be told of.
struct ListTelling: Sendable {
  /// Which change of the collection it belongs to, in order.
  let number: UInt64
  /// Whether that is an edit without a store: no update has a delivery for it.
  let isEdit: Bool
  let change: CollectionChange
  let context: (any Sendable)?
  /// When the change was made.
  let date: Date
}

/// Changes that a member is to be told of, in order.
struct TellingQueue: Sendable {
  private var tellings: [ListTelling?] = []
  private var firstIndex = 0

  var count: Int { tellings.count - firstIndex }
  var isEmpty: Bool { count == 0 }

  /// The oldest one.
  var first: ListTelling? { firstIndex < tellings.count ? tellings[firstIndex] : nil }

  /// Whether the oldest one belongs to this change or one before.
  func isDue(_ number: UInt64) -> Bool { first.map { $0.number <= number } ?? false }

  mutating func append(_ telling: ListTelling) { tellings.append(telling) }

  /// Takes the oldest one.
  mutating func popFirst() -> ListTelling? {
    guard firstIndex < tellings.count else { return nil }
    defer {
      tellings[firstIndex] = nil
      firstIndex += 1
      // Each is moved once on average.
      if firstIndex * 2 > tellings.count {
        tellings.removeFirst(firstIndex)
        firstIndex = 0
      }
    }
    return tellings[firstIndex]
  }

  /// Takes all of them as one change; `nil` if there are none.
  mutating func joined() -> CollectionChange? {
    guard !isEmpty else { return nil }
    var changes: [CollectionChangeInformation] = []
    var isReset = false
    while let telling = popFirst() {
      switch telling.change {
      case .reset: isReset = true
      case .changes(let more): changes += more
      }
    }
    return isReset ? .reset : .changes(changes)
  }
}
