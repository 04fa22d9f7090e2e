extension TreeValue {
  /// The value after the removal of nodes.
  ///
  /// - Parameter isGone: Whether the node with an identifier is removed.
  /// - Returns: The value; `nil` if it requires one of them.
  package func losing(_ isGone: (String) -> Bool) -> TreeValue? {
    switch self {
    case .reference(let identifier, _): return isGone(identifier) ? nil : self
    case .node(let node): return isGone(node.identifier) ? nil : self
    case .required(let value): return value.losing(isGone).map { .required($0) }
    case .array(let values): return .array(values.compactMap { $0.losing(isGone) })
    case .entries(let entries): return .entries(entries.compactMapValues { $0.losing(isGone) })
    case .object(let fields):
      var left = fields
      for (name, value) in fields {
        let kept = value.losing(isGone)
        if kept == nil, case .required = value { return nil }
        left[name] = kept ?? .null
      }
      return .object(left)
    default: return self
    }
  }
}
