extension TreeValue: Hashable {
  /// Whether two values are the same, byte for byte.
  ///
  /// - Parameters:
  ///   - left: A value.
  ///   - right: Another value.
  /// - Returns: `true` when both are of one case and their contents are the same; `-0.0` and `0.0`
  ///   differ, a NaN equals a NaN with the same payload.
  public static func == (left: TreeValue, right: TreeValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.bytes(let left), .bytes(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): haveSameFields(left, right)
    case (.entries(let left), .entries(let right)): left == right
    case (.tagged(let leftTag, let left), .tagged(let rightTag, let right)):
      leftTag == rightTag && left == right
    case (.node(let left), .node(let right)): left == right
    case (.reference(let left, let leftType), .reference(let right, let rightType)):
      left.hasSameBytes(as: right) && leftType.hasSameBytes(as: rightType)
    case (.required(let left), .required(let right)): left == right
    default: false
    }
  }

  /// Feeds the value to a hasher, texts by their bytes and doubles by their bit pattern.
  ///
  /// - Parameter hasher: The hasher to feed.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(UInt8(0))
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let value): value.hashBytes(into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .array(let values): hasher.combine(values)
    case .object(let fields): TreeValue.hashFields(fields, into: &hasher)
    case .entries(let entries): hasher.combine(entries)
    case .tagged(let tag, let value):
      hasher.combine(tag)
      hasher.combine(value)
    case .node(let node): hasher.combine(node)
    case .reference(let identifier, let typeName):
      identifier.hashBytes(into: &hasher)
      typeName.hashBytes(into: &hasher)
    case .required(let value):
      hasher.combine(UInt8(1))
      hasher.combine(value)
    }
  }

  /// A dictionary finds a key in either Unicode spelling, so the bytes of the keys are compared too.
  private static func haveSameFields(
    _ left: [String: TreeValue], _ right: [String: TreeValue]
  ) -> Bool {
    guard left.count == right.count else { return false }
    return left.allSatisfy { name, value in
      guard let index = right.index(forKey: name) else { return false }
      return right[index].key.hasSameBytes(as: name) && right[index].value == value
    }
  }

  private static func hashFields(_ fields: [String: TreeValue], into hasher: inout Hasher) {
    var sum = 0  // commutative: a dictionary has no order
    for (name, value) in fields {
      var field = Hasher()
      name.hashBytes(into: &field)
      field.combine(value)
      sum ^= field.finalize()
    }
    hasher.combine(sum)
  }
}
