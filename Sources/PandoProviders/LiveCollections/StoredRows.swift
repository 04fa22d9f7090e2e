import PandoConsistency
import PandoModels

/// The stored elements of a list, if they may differ from the committed ones that are shown.
///
/// A row is in both lists, or stored only (removed in memory), or shown only (set in memory). A row
/// of both lists has one number, and may have another position and other contents in each.
struct StoredRows<T: SimpleModel>: Sendable {
  /// `nil` until the elements are read.
  var list: LiveList<T>?
  /// True if the lists may differ.
  ///
  /// Otherwise the rows are kept only because edits are pending.
  var isApart: Bool
  /// Maps each row whose stored and shown contents differ to the row that registers the stored
  /// contents.
  var shadows: [LiveRow: LiveRow] = [:]
}

extension ListState {
  /// True if the stored elements may differ from the committed ones, pending edits included.
  var isApart: Bool { stored?.isApart ?? false || unwrittenCount > 0 }

  /// The stored elements, without pending edits; `nil` if they are not loaded.
  var storedList: LiveList<T>? {
    guard isLoaded, !isOutOfStep else { return nil }
    if let stored { return stored.list }
    return committed
  }

  /// Makes the edit of the stored list for an edit of the shown list.
  ///
  /// - Parameters:
  ///   - edit: The edit, before it is carried out.
  ///   - plan: Its positions in the shown list.
  /// - Returns: The edit, `nil` if the stored list does not change. `mayBeAbsent` is true if the
  ///   element may exist in the shown list only, or another commit may remove it before.
  mutating func writing(
    _ edit: ListEdit<T>, _ plan: ListPlan
  ) -> (edit: ListEdit<T>?, mayBeAbsent: Bool) {
    guard isApart, var view = takeStoredView() else {
      return (edit.fitted(to: plan, in: list), isApart)
    }
    defer { storedView = view }
    guard let written = edit.written(plan, shown: list.rows, stored: view) else {
      return (nil, false)
    }
    let storedPlan = written.plan(in: view.rows)
    let fitted = written.fitted(to: storedPlan, in: view)
    _ = view.carryOut(written, storedPlan)
    return (fitted, true)
  }

  /// Prepares for an edit that will be shown and not written.
  mutating func beginUnwritten() {
    if !isApart, isLoaded, !isOutOfStep { storedView = list }
    unwrittenCount += 1
  }

  /// Takes the stored elements with all written pending edits on top.
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
  /// Converts an edit of the shown list to one of the stored list; returns `nil` if that does not
  /// change.
  ///
  /// New elements go before the next shown element that is stored. If there is none, they go behind
  /// the preceding one.
  fileprivate func written(
    _ plan: ListPlan, shown: [LiveRow], stored: LiveList<T>
  ) -> ListEdit<T>? {
    switch (self, plan) {
    case (.insert(let new, .between), .insert(let range)):
      let place = Self.place(range.lowerBound, shown, stored.rows)
      return .insert(new, at: ListAnchor(place, in: stored))
    case (.update(let element, _), _): return stored.rows.contains(element.row) ? self : nil
    case (.remove(let elements), _):
      let elements = elements.filter { stored.rows.contains($0.row) }
      return elements.isEmpty ? nil : .remove(elements)
    case (.move(let element, _), .move(let shownFrom, let to)):
      guard let from = stored.position(of: element.row) else { return nil }
      var (shown, rest) = (shown, stored.rows)
      shown.remove(at: shownFrom)
      rest.remove(at: from)
      return .move(
        element, to: ListAnchor(Self.place(to, shown, rest), in: stored, without: from))
    default: return self
    }
  }

  /// Converts a position in one list to the corresponding position in another.
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
  /// Converts a change of the stored list to one of the shown list, which has other rows.
  ///
  /// - Parameters:
  ///   - shown: The shown rows before the change.
  ///   - stored: The stored rows before the change.
  ///   - kept: Rows that stay shown, although their stored elements are removed.
  /// - Returns: `nil` if the change does not fit the rows.
  func shown(
    in shown: [LiveRow], stored: [LiveRow], keeping kept: Set<LiveRow>
  ) -> ListScript<T>? {
    var (rows, stored) = (shown, stored)
    var steps: [CollectionChangeInformation] = []
    var fresh = inserted[...]
    func comeIn(_ row: LiveRow, at index: Int) -> Int {
      // An insertion at the end of the stored list goes to the end of the shown list.
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
