import FoundationEssentials
import PandoModels
import PandoSystem

/// A change that a member is to be told of.
struct ListTelling<T: SimpleModel>: Sendable {
  /// Which change of the collection it belongs to, in order.
  let number: UInt64
  /// Whether that is an edit without a store: no update has a delivery for it.
  let isEdit: Bool
  let change: ToldChange<T>
  let context: (any Sendable)?
  /// When the change was made.
  let date: Date
}

/// A change with what it takes to know the list that it leads to.
///
/// All members that know the same list share it. It holds the list itself only for those who have been told all
/// changes before; a list for each change that waits would need the memory of as many lists.
final class ToldChange<T: SimpleModel>: @unchecked Sendable {
  // Sendable because all but `change` is used under the lock of the collection only.

  let change: CollectionChange
  private var list: [T]?
  /// What came in, was updated or moved, in ascending order of the places in the list after it.
  private var contents: [T]?

  init(_ change: CollectionChange, list: [T]? = nil) {
    self.change = change
    self.list = list
  }

  /// Whether nobody has to be told.
  var isEmpty: Bool { change == .changes([]) }

  /// Keeps what it takes to know the list.
  ///
  /// - Parameters:
  ///   - isNext: Whether the list before the change is not known any more when it is told.
  ///   - makeList: Makes the list after the change.
  func keep(isNext: Bool, _ makeList: () -> [T]) {
    guard list == nil else { return }
    switch change {
    case .changes(let changes) where !isNext:
      if contents != nil { return }
      let list = makeList()
      contents = changes.places(in: list.count).map { list[$0] }
    case .changes, .reset: list = makeList()
    }
  }

  /// The list after the change.
  ///
  /// - Parameter before: The list before it; `nil` if nobody has it.
  /// - Returns: The list.
  func list(after before: [T]?) -> [T] {
    if let list { return list }
    guard let before, case .changes(let changes) = change, let contents else {
      preconditionFailure("a change whose list nobody has kept")
    }
    var rest = contents[...]
    let list = before.applying(changes) { _ in rest.removeFirst() }
    self.list = list
    return list
  }
}

/// Changes that a member is to be told of, in order.
///
/// An own call tells the delegate before its turn; such a change stays here for the batch, whose turn is that of the
/// update.
struct TellingQueue<T: SimpleModel>: Sendable {
  private var tellings = Deque<ListTelling<T>>()
  /// How many of them the delegate has been told of.
  private var toldCount = 0
  /// Whether the list has changed since the newest one in a way that is not told.
  private var hasGap = false

  var count: Int { tellings.count }
  var isEmpty: Bool { tellings.isEmpty }
  /// Whether the delegate has been told of all.
  var isTold: Bool { toldCount == tellings.count }

  /// Whether the delegate has been told of the oldest one.
  var isFirstTold: Bool { toldCount > 0 }

  /// The oldest one.
  var first: ListTelling<T>? { tellings.first }

  /// Whether the oldest one belongs to this change or one before.
  func isDue(_ number: UInt64) -> Bool { first.map { $0.number <= number } ?? false }

  /// Adds one.
  ///
  /// - Parameters:
  ///   - telling: The change.
  ///   - list: Makes the list that the change leads to.
  mutating func append(_ telling: ListTelling<T>, _ list: () -> [T]) {
    telling.change.keep(isNext: isTold || hasGap, list)
    tellings.append(telling)
    hasGap = false
  }

  /// Notes that the list changes in a way that is not told: by an own edit, or as the answer to a fetch.
  mutating func noteGap() { hasGap = true }

  /// Takes the oldest one that the delegate has not been told of, with the list that it leads to.
  ///
  /// It stays in the queue.
  mutating func takeUntold() -> (telling: ListTelling<T>, list: [T])? {
    guard !isTold else { return nil }
    let telling = tellings[toldCount]
    let list = telling.change.list(after: nil)
    tellings[toldCount] = ListTelling(
      number: telling.number, isEdit: telling.isEdit, change: ToldChange(.changes([])),
      context: telling.context, date: telling.date)
    toldCount += 1
    if !isTold { _ = tellings[toldCount].change.list(after: list) }
    return (telling, list)
  }

  /// Takes the oldest one away, once the delegate has been told of it.
  mutating func popFirst() -> ListTelling<T>? {
    guard toldCount > 0 else { return nil }
    toldCount -= 1
    return tellings.popFirst()
  }

  /// Takes all of them as one change; `nil` if there are none that the delegate has not been told of.
  mutating func joined() -> CollectionChange? {
    defer { self = TellingQueue() }
    guard !isTold else { return nil }
    var changes: [CollectionChangeInformation] = []
    for telling in tellings[toldCount...] {
      switch telling.change.change {
      case .reset: return .reset
      case .changes(let more): changes += more
      }
    }
    return .changes(changes)
  }
}
