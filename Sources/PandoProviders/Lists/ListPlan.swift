import PandoModels

/// At which places an edit changes a list.
enum ListPlan: Equatable, Sendable {
  /// The element it is about has gone.
  case nothing
  /// The list is set as a whole.
  case set
  /// New elements fill these places.
  case insert(Range<Int>)
  /// The element at a place is replaced.
  case update(Int)
  /// The elements at these places go; the ranges are ascending and don't touch.
  case remove([Range<Int>])
  /// An element leaves one place and comes in at another, which counts without it.
  case move(from: Int, to: Int)

  /// Whether the places exist in a list.
  func fits(_ count: Int) -> Bool {
    switch self {
    case .nothing, .set: true
    case .insert(let range): range.lowerBound <= count
    case .update(let index): index < count
    case .remove(let ranges): ranges.allSatisfy { $0.upperBound <= count }
    case .move(let from, let to): from < count && to < count
    }
  }

  /// What it is called when it is told.
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
  ///   - plan: What to do.
  ///   - new: The elements that come in or replace others.
  /// - Returns: The elements that were replaced or removed, in ascending order of their places.
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

  /// Takes a plan back that was the last to be carried out.
  ///
  /// - Parameters:
  ///   - plan: What was done.
  ///   - old: The elements that were replaced or removed then.
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
