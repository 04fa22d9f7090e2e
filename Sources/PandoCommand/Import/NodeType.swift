/// A type of nodes and the field whose value identifies them.
struct NodeType: Hashable, Sendable {
  /// The type's name in the store.
  let typeName: String
  /// The field that identifies a node; its value and the type's name make the identifier.
  let field: String

  init(typeName: String, field: String) {
    self.typeName = typeName
    self.field = field
  }

  /// Parses `TYPE:FIELD`.
  ///
  /// - Returns: `nil` when either part is missing.
  init?(parsing text: some StringProtocol) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    self.init(typeName: String(parts[0]), field: String(parts[1]))
  }

  /// The notation of the command line, `TYPE:FIELD`.
  var text: String { "\(typeName):\(field)" }
}
