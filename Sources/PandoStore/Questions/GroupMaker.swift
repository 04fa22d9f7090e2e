/// Makes the groups of an answer from their tallies.
struct GroupMaker<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let key: @Sendable (GroupValues) throws(QueryError) -> Key
  let value: @Sendable (Tally) throws(QueryError) -> Value
  /// Whether the answer has a group with this value.
  var isKept: (@Sendable (Value) -> Bool)?

  /// The groups, one for each key; the values of different texts may be equal keys.
  private func merged(_ tally: Tally) throws(QueryError) -> [Key: (
    values: GroupValues, tally: Tally
  )] {
    var merged: [Key: (values: GroupValues, tally: Tally)] = [:]
    for (values, tally) in tally.groups {
      let key = try key(values)
      guard let index = merged.index(forKey: key) else {
        merged[key] = (values, tally)
        continue
      }
      // The lowest of the texts is the key.
      var (former, sum) = merged[index].value
      sum.add(tally)
      let lowest = min(former, values)
      if lowest == values {
        merged.remove(at: index)
        former = values
      }
      merged[key] = (former, sum)
    }
    return merged
  }

  /// The answers of the groups.
  func dictionary(_ tally: Tally) throws(QueryError) -> [Key: Value] {
    var answers: [Key: Value] = [:]
    for (key, group) in try merged(tally) {
      let value = try value(group.tally)
      if isKept?(value) ?? true { answers[key] = value }
    }
    return answers
  }

  /// The groups in an order, up to its limit.
  ///
  /// - Parameters:
  ///   - tally: The tally of the groups.
  ///   - selection: The order.
  ///   - rank: The value by which a group is ordered.
  /// - Returns: The groups.
  /// - Throws: ``QueryError`` as the answer.
  func list(
    _ tally: Tally, _ selection: GroupSelection, rank: (Value) -> QueryValue
  ) throws(QueryError) -> [AnswerGroup<Key, Value>] {
    var groups: [(rank: QueryValue, values: GroupValues, group: AnswerGroup<Key, Value>)] = []
    for (key, group) in try merged(tally) {
      let value = try value(group.tally)
      guard isKept?(value) ?? true else { continue }
      groups.append((rank(value), group.values, AnswerGroup(key: key, value: value)))
    }
    groups.sort { selection.areInOrder($0.rank, $0.values, $1.rank, $1.values) }
    return groups.prefix(selection.limit ?? .max).map(\.group)
  }

  /// The rank of a group for a running tally; `nil` if it is left out.
  func rank(
    _ rank: @escaping @Sendable (Value) -> QueryValue
  ) -> @Sendable (Tally) throws(QueryError) -> QueryValue? {
    { [value, isKept] (tally) throws(QueryError) in
      let value = try value(tally)
      return isKept?(value) ?? true ? rank(value) : nil
    }
  }
}

extension QueryField {
  /// A stored value in the type of the field.
  ///
  /// `-0.0` and `0.0` are one value in indexes and groups, which is given as `0.0`.
  func typed<Value: QueryRepresentable>(
    _ value: QueryValue, as type: Value.Type
  ) throws(QueryError) -> Value {
    let isZero = if case .double(let number) = value { number == 0 } else { false }
    guard let typed = Value(queryValue: isZero ? .double(0) : value) else {
      throw QueryError(.wrongType, label, "the stored value \(value) is none of \(Value.self)")
    }
    return typed
  }
}

extension GroupIdentity {
  /// Returns a function that says which key of a type a value is.
  static func ofValues<Key: QueryRepresentable & Hashable>(
    _ type: Key.Type
  ) -> @Sendable (QueryValue) -> GroupIdentity {
    let isExact = exactTypes.contains { $0 == type }
    return { value in
      guard let key = Key(queryValue: value) else { return .none }
      switch value {
      case .null, .bool, .uuid, .data: return .own
      case .integer where isExact: return .own
      case .string(let text) where isExact && text.utf8.allSatisfy({ $0 < 0x80 }): return .own
      default: return .shared(AnyHashable(key))
      }
    }
  }

  /// Types of which different integers and different texts in ASCII are different values.
  private static let exactTypes: [any Any.Type] = [
    Int.self, Int?.self, String.self, String?.self, Int64.self, Int64?.self, UInt64.self,
    UInt64?.self,
    Int32.self, Int32?.self,
  ]

  /// The identity of values of several fields.
  static func joined(
    _ values: [QueryValue], _ identity: (Int, QueryValue) -> GroupIdentity
  ) -> GroupIdentity {
    var keys: [AnyHashable] = []
    var isShared = false
    for (place, value) in values.enumerated() {
      switch identity(place, value) {
      case .own: keys.append(AnyHashable(value))
      case .shared(let key):
        keys.append(key)
        isShared = true
      case .none: return .none
      }
    }
    return isShared ? .shared(AnyHashable(keys)) : .own
  }
}
