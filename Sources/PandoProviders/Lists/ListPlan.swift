import PandoModels

/// The positions at which an edit changes a list.
enum ListPlan: Equatable, Sendable {
  /// The element was removed before; nothing changes.
  case nothing
  /// The whole list is replaced.
  case set
  /// New elements are inserted at these positions.
  case insert(Range<Int>)
  /// The element at a position is replaced.
  case update(Int)
  /// The elements at these positions are removed. The ranges are ascending and not adjacent.
  case remove([Range<Int>])
  /// An element moves. `to` is its position after the move.
  case move(from: Int, to: Int)

  /// Returns true if a list of `count` elements has all positions of the plan.
  func fits(_ count: Int) -> Bool {
    switch self {
    case .nothing, .set: true
    case .insert(let range): range.lowerBound <= count
    case .update(let index): index < count
    case .remove(let ranges): ranges.allSatisfy { $0.upperBound <= count }
    case .move(let from, let to): from < count && to < count
    }
  }

  /// The change that listeners receive.
  var change: CollectionChange {
    switch self {
    case .nothing: .changes([])
    case .set: .reset
    case .insert(let range): .changes(range.map { .insert(index: $0) })
    case .update(let index): .changes([.update(index: index)])
    case .remove(let ranges):
      .changes(ranges.reversed().flatMap { $0.reversed().map { .delete(index: $0) } })
    case .move(let from, let to):
      .changes(from == to ? [] : [.move(from: from, to: to)])
    }
  }
}

extension Array {
  /// Carries out a plan.
  ///
  /// - Parameters:
  ///   - plan: The change.
  ///   - new: The inserted or replacing elements.
  /// - Returns: The replaced or removed elements, in ascending order of their positions.
  mutating func carryOut(_ plan: ListPlan, _ new: [Element]) -> [Element] {
    switch plan {
    case .nothing: return []
    case .set:
      let old = self
      self = new
      return old
    case .insert(let range):
      insert(contentsOf: new, at: range.lowerBound)
      return []
    case .update(let index):
      let old = self[index]
      self[index] = new[0]
      return [old]
    case .remove(let ranges):
      let old = ranges.flatMap { self[$0] }
      for range in ranges.reversed() { removeSubrange(range) }
      return old
    case .move(let from, let to):
      insert(remove(at: from), at: to)
      return []
    }
  }

  /// Undoes the most recent plan.
  ///
  /// - Parameters:
  ///   - plan: The plan that was carried out last.
  ///   - old: The elements that the plan replaced or removed.
  mutating func undo(_ plan: ListPlan, _ old: [Element]) {
    switch plan {
    case .nothing: break
    case .set: self = old
    case .insert(let range): removeSubrange(range)
    case .update(let index): self[index] = old[0]
    case .remove(let ranges):
      var taken = 0
      for range in ranges {
        insert(contentsOf: old[taken..<(taken + range.count)], at: range.lowerBound)
        taken += range.count
      }
    case .move(let from, let to): insert(remove(at: to), at: from)
    }
  }
}
