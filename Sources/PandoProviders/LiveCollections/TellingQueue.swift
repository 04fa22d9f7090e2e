import FoundationEssentials
import PandoModels
import PandoSystem

/// A queued notification of a member.
struct ListTelling<T: SimpleModel>: Sendable {
  /// The number of the change in its collection, in order.
  let number: UInt64
  /// True for an edit without a store, whose notification no update delivers.
  let isEdit: Bool
  let change: ToldChange<T>
  let context: (any Sendable)?
  /// The time of the change.
  let date: Date
}

/// A change with the data to compute the list that results from it.
///
/// All members with the same list share one object. It holds the changed elements. It holds the whole
/// list for a reset, and if the list before the change can't be computed.
final class ToldChange<T: SimpleModel>: @unchecked Sendable {
  // Sendable because all properties except `change` are used under the lock of the collection only.

  let change: CollectionChange
  private var list: [T]?
  /// The inserted, updated and moved elements, in ascending order of their positions after the
  /// change.
  private var contents: [T]?

  init(_ change: CollectionChange, list: [T]? = nil) {
    self.change = change
    self.list = list
  }

  /// True if the change is empty, so that no member is notified.
  var isEmpty: Bool { change == .changes([]) }

  /// Saves the data to compute the list.
  ///
  /// - Parameters:
  ///   - isNext: True if ``list(after:)`` is called without the list before the change.
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

  /// Returns the list after the change.
  ///
  /// - Parameter before: The list before it; `nil` if it is not available.
  /// - Returns: The list.
  func list(after before: [T]?) -> [T] {
    if let list { return list }
    guard let before, case .changes(let changes) = change, let contents else {
      preconditionFailure("the list of a change was not saved")
    }
    var rest = contents[...]
    let list = before.applying(changes) { _ in rest.removeFirst() }
    self.list = list
    return list
  }
}

/// The queued notifications of a member, in order.
///
/// A member's own call on the delivery target sends them to the delegate early. A sent notification
/// stays in the queue until its update is delivered, because the member's batch is notified then.
struct TellingQueue<T: SimpleModel>: Sendable {
  private var tellings = Deque<ListTelling<T>>()
  /// The count of oldest changes that were sent to the delegate, or that were queued before it was
  /// set.
  private var toldCount = 0
  /// True if the list has changed without a notification since the newest change was queued.
  private var hasGap = false

  var count: Int { tellings.count }
  var isEmpty: Bool { tellings.isEmpty }
  /// True if all changes were sent to the delegate.
  var isAllTold: Bool { toldCount == tellings.count }

  /// True if the oldest change was sent to the delegate.
  var isFirstTold: Bool { toldCount > 0 }

  /// The oldest change.
  var first: ListTelling<T>? { tellings.first }

  /// Returns true if the oldest change has this number or a lower one.
  func isDue(_ number: UInt64) -> Bool { first.map { $0.number <= number } ?? false }

  /// Appends a change.
  ///
  /// - Parameters:
  ///   - telling: The change.
  ///   - list: Makes the list after the change.
  mutating func append(_ telling: ListTelling<T>, _ list: () -> [T]) {
    telling.change.keep(isNext: isAllTold || hasGap, list)
    tellings.append(telling)
    hasGap = false
  }

  /// Records a change of the list without a notification: the member's own edit, or an answer to a
  /// fetch.
  mutating func noteGap() { hasGap = true }

  /// Returns the oldest change that was not sent, with the list after it, and marks it as sent.
  ///
  /// The change stays in the queue.
  mutating func takeUntold() -> (telling: ListTelling<T>, list: [T])? {
    guard !isAllTold else { return nil }
    let telling = tellings[toldCount]
    let list = telling.change.list(after: nil)
    noteTold()
    if !isAllTold { _ = tellings[toldCount].change.list(after: list) }
    return (telling, list)
  }

  /// Marks all changes as sent; they stay in the queue for the batch.
  ///
  /// - Returns: True if one was not sent.
  mutating func skip() -> Bool {
    if isAllTold { return false }
    while !isAllTold { noteTold() }
    return true
  }

  private mutating func noteTold() {
    let telling = tellings[toldCount]
    tellings[toldCount] = ListTelling(
      number: telling.number, isEdit: telling.isEdit, change: ToldChange(.changes([])),
      context: telling.context, date: telling.date)
    toldCount += 1
  }

  /// Removes the oldest change, if it was sent to the delegate.
  mutating func popFirst() -> ListTelling<T>? {
    guard toldCount > 0 else { return nil }
    toldCount -= 1
    return tellings.popFirst()
  }

  /// Removes all changes and joins the unsent ones; returns `nil` if all were sent.
  mutating func joined() -> CollectionChange? {
    defer { self = TellingQueue() }
    guard !isAllTold else { return nil }
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
