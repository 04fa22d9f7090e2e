import PandoRecords
import PandoStore

/// Finds followers of one entity type by the values in their filters.
///
/// | the filter | the follower is found by |
/// |---|---|
/// | names identifiers | nothing here |
/// | `\.field == value && …` | field and value of a changed entity |
/// | anything else | every change of the type |
///
/// A follower is found by one value of its filter: the one with the fewest followers.
struct FilterIndex: Sendable {
  private struct Entry {
    let values: [FieldValue]
    var place: FieldValue?
  }

  /// A value with more followers looks for better values for them, at each power of two.
  private static let crowd = 16

  private var entries: [UInt64: Entry] = [:]
  /// The followers that every change of the type may affect.
  private var general: Set<UInt64> = []
  private var byValue: [String: [QueryValue: Set<UInt64>]] = [:]
  /// The fields by whose values followers are found.
  private(set) var fields: [String] = []

  /// Whether no follower is found by an entity's values.
  var isEmpty: Bool { general.isEmpty && entries.isEmpty }

  /// Whether every change of the type may affect a follower.
  var takesAll: Bool { !general.isEmpty }

  mutating func insert(_ number: UInt64, _ key: FollowedKey) {
    switch key {
    case .identifiers: break
    case .type: general.insert(number)
    case .values(let values):
      entries[number] = Entry(values: values)
      place(number, values)
    }
  }

  mutating func remove(_ number: UInt64) {
    general.remove(number)
    leave(number)
    entries[number] = nil
  }

  /// Adds the followers that an entity with these values may affect.
  func find(_ values: [FieldValue], into numbers: inout Set<UInt64>) {
    numbers.formUnion(general)
    for value in values {
      if let found = byValue[value.field]?[value.value] { numbers.formUnion(found) }
    }
  }

  /// Whether one of these values finds a follower.
  func findsAny(_ values: [FieldValue]) -> Bool {
    values.contains { byValue[$0.field]?[$0.value] != nil }
  }

  private mutating func place(_ number: UInt64, _ values: [FieldValue]) {
    guard let best = values.min(by: { count($0) < count($1) }) else { return }
    enter(number, best)
    let crowd = count(best)
    // Followers that were placed when another value was better may move now.
    guard crowd > Self.crowd, crowd.nonzeroBitCount == 1 else { return }
    for other in byValue[best.field]?[best.value] ?? [] {
      guard let better = entries[other]?.values.min(by: { count($0) < count($1) }),
        count(better) < crowd / 2
      else { continue }
      leave(other)
      enter(other, better)
    }
  }

  private func count(_ value: FieldValue) -> Int { byValue[value.field]?[value.value]?.count ?? 0 }

  private mutating func enter(_ number: UInt64, _ value: FieldValue) {
    if byValue[value.field] == nil { fields.append(value.field) }
    byValue[value.field, default: [:]][value.value, default: []].insert(number)
    entries[number]?.place = value
  }

  /// Removes a follower from its value.
  private mutating func leave(_ number: UInt64) {
    guard let value = entries[number]?.place.take() else { return }
    byValue[value.field]?[value.value]?.remove(number)
    if byValue[value.field]?[value.value]?.isEmpty == true {
      byValue[value.field]?[value.value] = nil
    }
    guard byValue[value.field]?.isEmpty == true else { return }
    byValue[value.field] = nil
    fields.removeAll { $0 == value.field }
  }
}

#if InternalChecks
  extension FilterIndex {
    /// Stops the process if the index does not find each of its followers once.
    ///
    /// - Parameter numbers: The followers of the type.
    /// - Complexity: O(*n*) for *n* followers.
    func checkInvariants(_ numbers: Set<UInt64>) {
      precondition(
        general.isDisjoint(with: entries.keys), "a follower is found by values and by all changes")
      precondition(general.union(entries.keys).isSubset(of: numbers), "a follower has left")
      for (number, entry) in entries {
        guard let place = entry.place else {
          preconditionFailure("the follower \(number) is found by no value")
        }
        precondition(
          entry.values.contains(place)
            && byValue[place.field]?[place.value]?.contains(number) == true,
          "the value of the follower \(number) does not find it")
      }
      let found = byValue.values.map { $0.values.map(\.count).reduce(0, +) }.reduce(0, +)
      precondition(found == entries.count, "a value finds a follower that it should not find")
      precondition(
        fields.count == byValue.count && fields.allSatisfy { byValue[$0] != nil },
        "the index has other fields than its values")
    }
  }
#endif

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
