import PandoConsistency
import PandoModels

/// The stored elements of a list, where they may be others than the committed ones that are shown.
///
/// A row is in both lists, or stored only (removed in memory), or shown only (set in memory). Rows of
/// both have one number; what is stored under it may have other contents, and another place.
struct StoredRows<T: SimpleModel>: Sendable {
  /// `nil` as long as nobody has read them.
  var list: LiveList<T>?
  /// Whether they are others; else they are kept only because edits are pending on top.
  var isApart: Bool
  /// The rows under which stored elements are registered that are not shown as they are stored.
  var shadows: [LiveRow: LiveRow] = [:]
}

/// What an edit changes in the stored list.
final class StoredWriting<T: SimpleModel> {
  /// In terms of stored rows; `nil` if nothing.
  let edit: ListEdit<T>?
  /// In terms of what the elements are.
  let stored: StoredEdit<T>?
  /// Whether what it is about may be shown and not stored.
  let mayBeAbsent: Bool

  init(edit: ListEdit<T>? = nil, stored: StoredEdit<T>? = nil, mayBeAbsent: Bool = false) {
    self.edit = edit
    self.stored = stored
    self.mayBeAbsent = mayBeAbsent
  }
}

extension ListState {
  /// Whether the stored elements may be others than the committed ones, pending edits included.
  var isApart: Bool { stored?.isApart ?? false || unwrittenCount > 0 }

  /// The stored elements, without pending edits; `nil` if they are not known.
  var storedList: LiveList<T>? {
    guard isLoaded, !isOutOfStep else { return nil }
    if let stored { return stored.list }
    return committed
  }

  /// What an edit of the shown list is to change in the stored one.
  ///
  /// - Parameters:
  ///   - edit: The edit, which has not been carried out.
  ///   - plan: Its places in the shown list.
  /// - Returns: The same for the stored list.
  mutating func writing(_ edit: ListEdit<T>, _ plan: ListPlan) -> StoredWriting<T> {
    guard isApart else {
      return StoredWriting(edit: edit, stored: StoredEdit(edit, plan, in: list))
    }
    guard var view = takeStoredView() else {
      return StoredWriting(edit: edit, stored: StoredEdit(edit, plan, in: list), mayBeAbsent: true)
    }
    defer { storedView = view }
    guard let written = edit.written(plan, shown: list.rows, stored: view.rows) else {
      return StoredWriting()
    }
    let storedPlan = written.plan(in: view.rows)
    // Until it is written the stored list may lose what is shown, as well.
    let writing = StoredWriting(
      edit: written, stored: StoredEdit(written, storedPlan, in: view), mayBeAbsent: true)
    _ = view.carryOut(written, storedPlan)
    return writing
  }

  /// Notes that an edit is about to be shown that is not written.
  mutating func beginUnwritten() {
    if !isApart, isLoaded, !isOutOfStep { storedView = list }
    unwrittenCount += 1
  }

  /// The stored elements with all pending edits that are written on top.
  private mutating func takeStoredView() -> LiveList<T>? {
    if let view = storedView.take() { return view }
    guard var view = storedList else { return nil }
    for pending in pending {
      if let written = pending.operation.written { _ = view.apply(written) }
    }
    return view
  }
}

extension ListEdit {
  /// What an edit of the shown list does to the stored one; `nil` if nothing.
  ///
  /// What comes in goes before the next shown element that is stored; if there is none, behind the
  /// one that precedes.
  fileprivate func written(
    _ plan: ListPlan, shown: [LiveRow], stored: [LiveRow]
  ) -> ListEdit<T>? {
    switch (self, plan) {
    case (.insert(let new, .between), .insert(let range)):
      let place = Self.place(range.lowerBound, shown, stored)
      return .insert(new, at: ListAnchor(place, in: stored))
    case (.update(let row, _), _): return stored.contains(row) ? self : nil
    case (.remove(let rows), _):
      let rows = rows.filter { stored.contains($0) }
      return rows.isEmpty ? nil : .remove(rows)
    case (.move(let row, _), .move(let shownFrom, let to)):
      guard let from = stored.firstIndex(of: row) else { return nil }
      var (shown, rest) = (shown, stored)
      shown.remove(at: shownFrom)
      rest.remove(at: from)
      return .move(row, to: ListAnchor(Self.place(to, shown, rest), in: stored, without: from))
    default: return self
    }
  }

  /// The place in one list that a place in another one amounts to.
  static func place(_ place: Int, _ rows: [LiveRow], _ others: [LiveRow]) -> Int {
    for row in rows[place...] {
      if let found = others.firstIndex(of: row) { return found }
    }
    for row in rows[..<place].reversed() {
      if let found = others.firstIndex(of: row) { return found + 1 }
    }
    return Swift.min(place, others.count)
  }
}

extension ListScript {
  /// What a change of the stored list does to the shown one, which has other rows.
  ///
  /// - Parameters:
  ///   - shown: The shown rows before it.
  ///   - stored: The stored rows before it.
  ///   - kept: Rows that stay, though what was stored under them goes.
  /// - Returns: `nil` if it does not fit.
  func shown(
    in shown: [LiveRow], stored: [LiveRow], keeping kept: Set<LiveRow>
  ) -> ListScript<T>? {
    var (rows, stored) = (shown, stored)
    var steps: [CollectionChangeInformation] = []
    var fresh = inserted[...]
    func comeIn(_ row: LiveRow, at index: Int) -> Int {
      // The end is the end, whatever stands there.
      let isEnd = index == stored.count
      let place = isEnd ? rows.count : ListEdit<T>.place(index, stored, rows)
      stored.insert(row, at: index)
      rows.insert(row, at: place)
      return place
    }
    for change in changes {
      switch change {
      case .update(let index):
        if let place = rows.firstIndex(of: stored[index]) { steps.append(.update(index: place)) }
      case .delete(let index):
        let row = stored.remove(at: index)
        guard !kept.contains(row), let place = rows.firstIndex(of: row) else { continue }
        rows.remove(at: place)
        steps.append(.delete(index: place))
      case .insert(let index):
        guard let row = fresh.popFirst() else { return nil }
        steps.append(.insert(index: comeIn(row, at: index)))
      case .move(let from, let to):
        let row = stored.remove(at: from)
        guard let place = rows.firstIndex(of: row) else {
          stored.insert(row, at: to)
          continue
        }
        rows.remove(at: place)
        steps.append(.move(from: place, to: comeIn(row, at: to)))
      }
    }
    var contents: [Int: T] = [:]
    for (place, row) in rows.enumerated() {
      if let model = models[row] { contents[place] = model }
    }
    return ListScript(steps, contents, on: shown, newRows: inserted)
  }
}
