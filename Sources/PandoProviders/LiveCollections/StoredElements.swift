import PandoConsistency
import PandoModels
import PandoSystem

/// The stored elements of a list, if they differ from the committed elements.
///
/// A row that was removed in memory is in the stored list only; one that was set in memory is in the
/// committed list only. Any other row is in both lists under one number. Its position and its
/// contents may differ.
///
/// With a store, the lists are the same if they have the same elements in the same order. With a
/// custom cache, which receives whole lists, the contents must be equal too.
enum StoredElements<T: SimpleModel>: Sendable {
  case asShown
  case list(LiveList<T>)
  /// They differ, and were not read yet.
  case unread

  var isApart: Bool {
    if case .asShown = self { false } else { true }
  }

  var list: LiveList<T>? {
    if case .list(let list) = self { list } else { nil }
  }
}

/// In the registry, a row of separate stored elements has its number plus `firstStored`.
extension LiveRow {
  /// The first number of a stored row.
  static let firstStored: LiveRow = 1 << 31

  var isStored: Bool { self >= Self.firstStored }
  var stored: LiveRow { self | Self.firstStored }
  var shown: LiveRow { self & ~Self.firstStored }
}

extension ListState {
  /// The stored elements, without pending edits; `nil` if they are not loaded.
  var storedList: LiveList<T>? {
    guard isLoaded, !isOutOfStep else { return nil }
    switch stored {
    case .asShown: return committed
    case .list(let list): return list
    case .unread: return nil
    }
  }

  /// Makes the edit of the stored list for an edit of the shown list.
  ///
  /// - Parameters:
  ///   - edit: The edit, before it is carried out.
  ///   - plan: Its positions in the shown list.
  /// - Returns: The edit, `nil` if the stored list does not change; and
  ///   ``ListOperation/mayBeAbsent``.
  func writing(
    _ edit: ListEdit<T>, _ plan: ListPlan
  ) -> (edit: ListEdit<T>?, mayBeAbsent: Bool) {
    let isApart = stored.isApart || pending.contains { !$0.operation.isWritten }
    guard isApart, var view = storedList else { return (edit.fitted(to: plan, in: list), isApart) }
    for pending in pending {
      if let written = pending.operation.written { _ = view.apply(written) }
    }
    guard let written = edit.written(plan, shown: list.rows, stored: view) else {
      return (nil, false)
    }
    return (written.fitted(to: written.plan(in: view.rows), in: view), true)
  }
}

extension ListEdit {
  /// Converts an edit of the shown list to one of the stored list; returns `nil` if the stored list
  /// does not change.
  ///
  /// A new element goes before the next shown element that is stored. Without one, it goes behind the
  /// last shown element before it that is stored.
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

/// The steps from the lists before an update to those after it.
extension LiveList {
  /// Carries out pending edits, with deletions between them.
  ///
  /// - Parameters:
  ///   - operations: The edits.
  ///   - update: The update that contains the edits.
  ///   - deletions: The deletions.
  ///   - body: Carries an edit out.
  mutating func carryOut(
    _ operations: [ListOperation<T>], of update: LiveUpdate,
    _ deletions: [LiveUpdate.Deletion],
    _ body: (inout LiveList<T>, ListOperation<T>) -> Void
  ) {
    var rest = operations[...]
    var start = 0
    for (place, operation) in update.operations.enumerated() {
      guard let next = rest.first, next === operation else { continue }
      rest.removeFirst()
      remove(deletions, in: start...place)
      body(&self, next)
      start = place + 1
    }
    remove(deletions, in: start...Int.max)
  }

  /// Removes elements that were deleted at places in a range.
  private mutating func remove(_ deletions: [LiveUpdate.Deletion], in range: ClosedRange<Int>) {
    let gone = deletions.reduce(into: Set<ByteString>()) { gone, deletion in
      if range.contains(deletion.place) { gone.formUnion(deletion.nodes) }
    }
    if gone.isEmpty { return }
    remove(
      Set(
        zip(rows, models).compactMap { row, model in
          model.modelIdentifier.map { gone.contains(ByteString($0)) } ?? false ? row : nil
        }))
  }

  /// Carries out an edit at its positions in the stored list.
  ///
  /// - Returns: `false` if the list does not have the positions.
  mutating func carryOutStored(_ operation: ListOperation<T>) -> Bool {
    guard let edit = operation.written else { return true }
    let plan = operation.committedPlan ?? edit.plan(in: rows)
    guard plan.fits(rows.count) else { return false }
    _ = carryOut(edit.fitted(to: plan, in: self), plan)
    return true
  }

  /// Sets the contents that the running update gives to rows.
  ///
  /// - Parameters:
  ///   - concerned: Rows that contain changed nodes.
  ///   - edited: Rows that the update's edits have set.
  ///   - scope: Regenerates the elements.
  /// - Returns: The rows of deleted models, which stay in the list.
  mutating func regenerate(
    _ concerned: [LiveRow], _ edited: [LiveRow], _ scope: PipelineScope
  ) -> Set<LiveRow> {
    var gone: Set<LiveRow> = []
    let isConcerned = Set(concerned)
    for (row, place) in places(of: isConcerned.union(edited).ordered()) {
      let regeneration = scope.regenerate(
        models[place], isConcerned: isConcerned.contains(row))
      guard let regeneration else { continue }
      if let new = regeneration.model as? T {
        models[place] = new
      } else if regeneration.model == nil {
        gone.insert(row)
      }
    }
    return gone
  }

  /// Applies the changes between two stored lists to this shown list.
  mutating func follow(from old: LiveList<T>, to new: LiveList<T>, shown: LiveList<T>) {
    let isOld = Set(old.rows)
    let inserted = new.rows.filter { !isOld.contains($0) }
    var contents: [Int: T] = [:]
    for (place, row) in new.rows.enumerated() where !isOld.contains(row) {
      contents[place] = new.models[place]
    }
    let changes = RowDifference.changes(from: old.rows, to: new.rows, updated: [])
    let script = ListScript(changes, contents, on: old.rows, newRows: inserted)
    script?.shown(in: rows, stored: old.rows, keeping: [])?.carryOut(on: &self)
    for (row, model) in zip(shown.rows, shown.models) where !isOld.contains(row) {
      replace(row, by: model)
    }
    remove(Set(inserted).subtracting(shown.rows))
  }

  /// Returns true if a stored list is the same as this one.
  ///
  /// - Parameters:
  ///   - stored: The stored list.
  ///   - isExact: True to compare the contents too, and not identifiers alone.
  /// - Returns: True if the lists are the same.
  func isSame(as stored: LiveList<T>, isExact: Bool) -> Bool {
    rows == stored.rows
      && zip(models, stored.models).allSatisfy {
        isExact ? $0.isEqual(to: $1) : Self.isSame($0, $1)
      }
  }

  /// Returns the model of a row; `nil` if the row is missing.
  func model(of row: LiveRow) -> T? { position(of: row).map { models[$0] } }

  /// Replaces the model of a row, if the row exists.
  mutating func replace(_ row: LiveRow, by model: T) {
    if let place = position(of: row) { models[place] = model }
  }

  /// Removes rows; missing rows are ignored.
  mutating func remove(_ gone: Set<LiveRow>) {
    if gone.isEmpty { return }
    for place in rows.indices.reversed() where gone.contains(rows[place]) {
      rows.remove(at: place)
      models.remove(at: place)
    }
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
