import FoundationEssentials
import PandoModels

/// A change that a member is to be told of.
struct ListTelling: Sendable {
  let change: CollectionChange
  let context: (any Sendable)?
  /// When the change was made.
  let date: Date
}

/// Changes that a member is to be told of, in order.
struct TellingQueue: Sendable {
  private var tellings: [ListTelling?] = []
  private var first = 0

  var count: Int { tellings.count - first }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ telling: ListTelling) { tellings.append(telling) }

  /// Takes the oldest one.
  mutating func popFirst() -> ListTelling? {
    guard first < tellings.count else { return nil }
    defer {
      tellings[first] = nil
      first += 1
      // Each is moved once on average.
      if first * 2 > tellings.count {
        tellings.removeFirst(first)
        first = 0
      }
    }
    return tellings[first]
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
