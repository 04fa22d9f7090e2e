import Pando

/// A follower with a mistake.
final class LazySide {
  private let mistake: Mistake
  private let asked: Plan.Asked
  private var known: [Item]?
  private var remarks: [Int: Remark]?
  private var rows: [World.Row] = []
  private var answer: Compared?
  private var items: [Item]?

  init(_ mistake: Mistake, _ asked: Plan.Asked) {
    self.mistake = mistake
    self.asked = asked
  }

  /// The element that it delivers after a commit.
  func next(_ state: State) -> Followed {
    let seen = seenItems(state)
    let plain = PlainAnswer(mistake)
    let seenRemarks = mistake == .missedRemark ? remarks : nil
    let found = plain.items(
      asked.selection.resolved(seenRemarks ?? state.world.remarks, mistake), seen)
    defer {
      remarks = state.world.remarks
      known = state.items
      rows = state.world.rows
      items = found
    }
    if let asking = asked.asking {
      let right = plain.answer(asking, found)
      let received = answer.map { stale($0, right, asking, found) } ?? right
      answer = received
      return .answer(received)
    }
    let received = staleItems(found)
    switch asked.delivery {
    case .items, .changes: return .items(received)
    case .keys:
      return .keys(
        (mistake == .keysKeepPlaces ? keptPlaces(received) : received).map { "Item:\($0.id)" })
    case .heldBy(let id): return .keys(plain.people(heldBy: id, seen))
    }
  }

  // MARK: Items

  /// The items as it sees them: some as they were before the commit.
  private func seenItems(_ state: State) -> [Item] {
    guard let known else { return state.items }
    if mistake == .missedUndo, state.isUndo { return known }
    if mistake == .missedOthers, state.isOfOthers { return known }
    let former = Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) })
    let drafts = Dictionary(uniqueKeysWithValues: rows.map { ($0.draft.id, $0.draft) })
    let now = Set(state.items.map(\.id))
    let changed = zip(state.world.rows, state.items).filter {
      former[$1.id] != $1 || drafts[$1.id] != $0.draft
    }
    let lastChanged = changed.count > 1 ? changed.last?.1.id : nil
    var seen = zip(state.world.rows, state.items).compactMap { row, item -> Item? in
      guard let old = former[item.id], let draft = drafts[item.id] else {
        return mistake == .missedInsert ? nil : item
      }
      let isStale =
        switch mistake {
        case .missedChild: draft == row.draft
        case .missedUpdate: draft != row.draft
        case .missedChildDelete:
          draft.helpers.count > row.draft.helpers.count
            || draft.owner != nil && row.draft.owner == nil
        case .missedListEdit:
          draft.tags != row.draft.tags || draft.parts != row.draft.parts
            || draft.helpers != row.draft.helpers
        case .lastOfManyChanges: item.id == lastChanged
        case .staleGroupKey: asked.asking.map { $0.grouping != .none } ?? false
        default: false
        }
      return isStale ? old : item
    }
    if mistake == .missedDelete { seen += known.filter { !now.contains($0.id) } }
    return seen
  }

  private func staleItems(_ found: [Item]) -> [Item] {
    guard let items else { return found }
    switch mistake {
    case .staleOrder: return keptPlaces(found)
    case .staleWindow:
      let ids = Set(found.map(\.id))
      let isGone = items.contains { !ids.contains($0.id) }
      return asked.selection.limit == found.count && isGone ? found.dropLast() : found
    default: return found
    }
  }

  /// The items in the order that they had.
  private func keptPlaces(_ found: [Item]) -> [Item] {
    guard let items, Set(items.map(\.id)) == Set(found.map(\.id)) else { return found }
    return items.compactMap { old in found.first { $0.id == old.id } }
  }

  func pages(_ joined: [Int], _ selection: Selection, _ items: [Item]) -> [Int] {
    guard mistake == .pagesSkipTies, let size = selection.limit, let order = selection.order.first
    else { return joined }
    let values = Dictionary(
      uniqueKeysWithValues: items.map { item in
        (item.id, ItemField.all[order.field].read(item))
      })
    return joined.enumerated().filter { index, id in
      index < size || values[joined[size - 1]] != values[id]
    }.map(\.element)
  }

  // MARK: Answers

  private func stale(
    _ old: Compared, _ new: Compared, _ asking: Asking, _ found: [Item]
  ) -> Compared {
    let hasSameItems = items.map { $0.map(\.id) == found.map(\.id) } ?? false
    if asking.grouping == .none {
      return stale(old, new, asking.measure, hasSameItems)
    }
    guard case .dictionary = asking.form, case .list(let olds) = old, case .list(let news) = new
    else { return new }
    var groups: [(key: Compared, value: Compared)] = []
    for case .list(let pair) in news {
      let former = olds.first { if case .list(let old) = $0 { old[0] == pair[0] } else { false } }
      if case .list(let old)? = former {
        groups.append((pair[0], stale(old[1], pair[1], asking.measure, hasSameItems)))
      } else {
        groups.append((pair[0], pair[1]))
      }
    }
    if mistake == .staleGroups {
      for case .list(let pair) in olds where !groups.contains(where: { $0.key == pair[0] }) {
        groups.append((pair[0], pair[1]))
      }
    }
    return .list(groups.sorted { $0.key < $1.key }.map { .list([$0.key, $0.value]) })
  }

  private func stale(
    _ old: Compared, _ new: Compared, _ measure: Measure, _ hasSameItems: Bool
  ) -> Compared {
    switch (mistake, measure) {
    case (.staleMinimum, .min): return old == .null || new == .null ? new : min(old, new)
    case (.staleMaximum, .max): return max(old, new)
    case (.staleCount, .count): return max(old, new)
    case (.staleSum, .sum), (.staleAverage, .average), (.stalePercentile, .percentile):
      return hasSameItems ? old : new
    case (.staleSeveral, .several):
      guard case .list(let olds) = old, case .list(let news) = new, olds[0] == news[0] else {
        return new
      }
      return .list([news[0], news[1], olds[2]])
    case (.staleDistinct, .distinct):
      guard case .list(let olds) = old, case .list(let news) = new else { return new }
      return .list((news + olds.filter { !news.contains($0) }).sorted())
    default: return new
    }
  }
}
