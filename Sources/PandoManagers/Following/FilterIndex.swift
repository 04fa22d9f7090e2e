import PandoRecords
import PandoStore
import PandoSystem

/// Finds the views of one entity type by the values in their filters.
///
/// A follower is the number of a view. Its conditions are those of its ``FollowedKey``.
///
/// | the query | the follower is found by |
/// |---|---|
/// | names identifiers | ``ViewIndex``, not by this index |
/// | `\.field == value`, `.isIn`, and `||` of these | field and value of a changed entity |
/// | has a limit and an order by a field | a value that is not behind that of the last kept entity |
/// | ranges, prefixes, and `||` of these | a value in a range |
/// | anything else, or keeps very many entities | every change of the type |
///
/// A follower is found by one condition. If several have values, it is the one whose values have the fewest followers.
struct FilterIndex: Sendable {
  private struct Entry {
    let conditions: [FieldCondition]
    let order: FieldOrder?
    /// The values that are not behind the last kept entity; `nil` while all may enter.
    var bound: FieldRange?
    /// Whether it is found by every change, whatever its conditions.
    var takesAll = false
    /// The condition by which it is found; `nil` for every change.
    var place: FieldCondition?
  }

  /// The followers of one field.
  private struct Followers {
    var points: [QueryValue: Set<UInt64>] = [:]
    var ranges = IntervalTree<QueryValue, UInt64>()
    var isEmpty: Bool { points.isEmpty && ranges.isEmpty }
  }

  /// Above this number of followers of a value, Pando looks for better conditions at each power of two.
  private static let crowd = 16

  private var entries: [UInt64: Entry] = [:]
  /// The followers that every change of the type may affect.
  private var general: Set<UInt64> = []
  private var followers: [String: Followers] = [:]
  /// The fields by whose values followers are found.
  private(set) var fields: [String] = []

  /// Whether no follower is found by an entity's values.
  var isEmpty: Bool { entries.isEmpty }

  /// Whether every change of the type may affect a follower.
  var takesAll: Bool { !general.isEmpty }

  mutating func insert(_ number: UInt64, _ key: FollowedKey) {
    switch key {
    case .identifiers: return
    case .type: entries[number] = Entry(conditions: [], order: nil)
    case .values(let conditions): entries[number] = Entry(conditions: conditions, order: nil)
    case .order(let order, let conditions):
      entries[number] = Entry(conditions: conditions, order: order)
    }
    place(number)
  }

  mutating func remove(_ number: UInt64) {
    leave(number)
    entries[number] = nil
  }

  /// Sets which values may enter a follower with an order and a limit.
  ///
  /// - Parameters:
  ///   - last: The value of the last kept entity in the first field of the order; `nil` if any match enters.
  ///   - number: The follower.
  ///   - widens: Whether the values that could enter before still can.
  mutating func setLast(_ last: QueryValue?, of number: UInt64, widens: Bool) {
    guard var entry = entries[number], let order = entry.order else { return }
    var bound = last.map { order.range(upTo: $0) }
    if widens { bound = entry.bound.flatMap { old in bound.map { old.union($0) } } }
    if bound == entry.bound { return }
    entry.bound = bound
    leave(number)
    entries[number] = entry
    place(number)
  }

  /// Sets whether a follower is found by every change.
  mutating func setTakesAll(_ takesAll: Bool, of number: UInt64) {
    guard entries[number].map({ $0.takesAll != takesAll }) ?? false else { return }
    leave(number)
    entries[number]?.takesAll = takesAll
    place(number)
  }

  /// Adds the followers that an entity with these values may affect.
  func find(_ values: [FieldValue], into numbers: inout Set<UInt64>) {
    numbers.formUnion(general)
    for value in values {
      guard let followers = followers[value.field] else { continue }
      if let found = followers.points[value.value] { numbers.formUnion(found) }
      followers.ranges.forEachValue(containing: value.value) { numbers.insert($0) }
    }
  }

  /// Whether one of these values finds a follower.
  func findsAny(_ values: [FieldValue]) -> Bool {
    values.contains { value in
      guard let followers = followers[value.field] else { return false }
      if followers.points[value.value] != nil { return true }
      var isFound = false
      followers.ranges.forEachValue(containing: value.value) { _ in isFound = true }
      return isFound
    }
  }

  private mutating func place(_ number: UInt64) {
    guard let entry = entries[number] else { return }
    let best = best(of: entry)
    enter(number, best)
    guard let best, let point = best.ranges.first, best.arePoints else { return }
    let crowd = count(best)
    // Followers that were placed when another value was better may move now.
    guard crowd > Self.crowd, crowd.nonzeroBitCount == 1 else { return }
    for other in point.point.flatMap({ followers[point.field]?.points[$0] }) ?? [] {
      guard let entry = entries[other], let better = self.best(of: entry), better != entry.place,
        count(better) < crowd / 2
      else { continue }
      leave(other)
      enter(other, better)
    }
  }

  /// The condition with the fewest followers; `nil` for every change.
  private func best(of entry: Entry) -> FieldCondition? {
    if entry.takesAll { return nil }
    let points = entry.conditions.filter(\.arePoints)
    if let best = points.min(by: { count($0) < count($1) }) { return best }
    if let bound = entry.bound { return FieldCondition(ranges: [bound]) }
    return entry.conditions.min { $0.openCount < $1.openCount }
  }

  /// The number of followers at the values of a condition.
  private func count(_ condition: FieldCondition) -> Int {
    condition.ranges.reduce(0) { count, range in
      count + (range.point.flatMap { followers[range.field]?.points[$0]?.count } ?? 0)
    }
  }

  private mutating func enter(_ number: UInt64, _ condition: FieldCondition?) {
    entries[number]?.place = condition
    guard let condition else {
      general.insert(number)
      return
    }
    for range in condition.ranges {
      if followers[range.field] == nil { fields.append(range.field) }
      if let point = range.point {
        followers[range.field, default: Followers()].points[point, default: []].insert(number)
      } else {
        followers[range.field, default: Followers()].ranges.insert(
          number, .init(range.lower, range.upper))
      }
    }
  }

  /// Removes a follower from its place.
  private mutating func leave(_ number: UInt64) {
    general.remove(number)
    for range in entries[number]?.place.take()?.ranges ?? [] {
      if let point = range.point {
        followers[range.field]?.points[point]?.remove(number)
        if followers[range.field]?.points[point]?.isEmpty == true {
          followers[range.field]?.points[point] = nil
        }
      } else {
        followers[range.field]?.ranges.remove(number, .init(range.lower, range.upper))
      }
      guard followers[range.field]?.isEmpty == true else { continue }
      followers[range.field] = nil
      fields.removeAll { $0 == range.field }
    }
  }
}

extension FieldCondition {
  /// The number of its ranges without a bound; such a range holds for many values.
  fileprivate var openCount: Int { ranges.count { $0.lower == nil || $0.upper == nil } }
}

extension FilterIndex {
  /// Stops the process if the index does not find each of its followers where it should.
  ///
  /// - Parameter numbers: The followers of the type.
  /// - Complexity: O(*n*) for *n* followers.
  func checkInvariants(_ numbers: Set<UInt64>) {
    precondition(Set(entries.keys).isSubset(of: numbers), "a follower has left")
    precondition(general.isSubset(of: entries.keys), "a follower of all changes has left")
    var count = 0
    for (number, entry) in entries {
      precondition(
        (entry.place == nil) == general.contains(number),
        "the follower \(number) is found by values and by all changes, or by neither")
      for range in entry.place?.ranges ?? [] {
        count += 1
        let isFound =
          if let point = range.point {
            followers[range.field]?.points[point]?.contains(number) == true
          } else {
            followers[range.field]?.ranges.isEmpty == false
          }
        precondition(isFound, "a range of the follower \(number) does not find it")
      }
    }
    for followers in followers.values {
      followers.ranges.checkInvariants()
      count -= followers.ranges.count + followers.points.values.reduce(0) { $0 + $1.count }
    }
    precondition(count == 0, "a value finds a follower that it should not find")
    precondition(
      fields.count == followers.count && fields.allSatisfy { followers[$0] != nil },
      "the index has other fields than its values")
  }

  /// The values that may enter a follower with an order and a limit; `nil` if any match may.
  func bound(of number: UInt64) -> FieldRange? { entries[number]?.bound }
}

extension Queryable {
  /// Appends the values of declared fields.
  @inline(__always)
  func appendValues(of fields: [Field<Self>], to values: inout [FieldValue]) {
    for field in fields {
      switch field.value(of: self) {
      case .elements(let elements):
        values += elements.map { FieldValue(field: field.name, value: $0) }
      case let value: values.append(FieldValue(field: field.name, value: value))
      }
    }
  }
}
