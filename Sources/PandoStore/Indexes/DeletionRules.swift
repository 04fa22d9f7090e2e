import PandoModels

/// The deletion rules of a type: a row of the `meta` table under `rules:` and the type name.
///
/// The value is text with one line per rule: its kind, a space, the name of the field.
struct DeletionRules: Equatable {
  static let prefix = Array("rules:".utf8)

  let rules: [DeletionRule]
  /// The paths of the fields of the rules.
  private let fields: [FieldPath]

  init(_ rules: [DeletionRule]) {
    self.rules = rules
    fields = rules.map { FieldPath($0.field) }
  }

  /// The rules that a type declares; they also apply to former names of a field.
  init(of type: any DeletionRuled.Type) {
    var rules = type.deletionRules
    let former = (type as? any FieldHistory.Type)?.formerFieldNames ?? [:]
    for rule in type.deletionRules {
      for name in former[rule.field] ?? []
      where !rules.contains(where: { $0.field == name }) {
        rules.append(DeletionRule(rule.kind, name))
      }
    }
    self.init(rules)
  }

  init(_ bytes: Span<UInt8>, typeName: String) throws {
    let text = try bytes.text("the deletion rules of \(typeName)")
    let rules = text.split(separator: "\n").compactMap { line -> DeletionRule? in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let kind = DeletionRule.Kind(rawValue: String(parts[0])) else {
        return nil
      }
      return DeletionRule(kind, String(parts[1]))
    }
    self.init(rules)
  }

  var bytes: [UInt8] {
    Array(rules.map { "\($0.kind.rawValue) \($0.field)" }.joined(separator: "\n").utf8)
  }

  static func key(_ typeName: String) -> [UInt8] { prefix + Array(typeName.utf8) }

  /// Refuses rules that can't be stored.
  func check(_ typeName: String) throws {
    let names = Set(rules.map(\.field))
    guard names.count == rules.count else {
      throw StoreError(.invalidModel, typeName, "it declares two deletion rules for one field")
    }
    for name in names where name.isEmpty || name.contains("\n") || name.utf8.count > 400 {
      throw StoreError(
        .invalidModel, typeName,
        "a deletion rule names the field \"\(name.prefix(40))\"; names have 1 to 400 bytes, in one "
          + "line")
    }
  }

  /// The children in the fields of rules of a kind, with their field.
  func children(
    of kind: DeletionRule.Kind, in body: Span<UInt8>
  ) throws -> [(node: UInt64, field: String)] {
    var children: [(node: UInt64, field: String)] = []
    for (rule, field) in zip(rules, fields) where rule.kind == kind {
      children += try field.edges(in: body).map { ($0.child.node, rule.field) }
    }
    return children
  }

  /// The ranges of the fields of rules of a kind in a body.
  func ranges(of kind: DeletionRule.Kind, in body: Span<UInt8>) throws -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for (rule, field) in zip(rules, fields) where rule.kind == kind {
      if let range = try field.range(in: body) { ranges.append(range) }
    }
    return ranges
  }

  static func == (left: DeletionRules, right: DeletionRules) -> Bool { left.rules == right.rules }
}
