import PandoModels
import PandoStore
import Testing

/// The rows that an index must have, computed from every record of its type.
struct IndexReference {
  let index: ModelIndex

  /// Expects that going through the index gives every record of the type once, in the order of the
  /// values that the records show.
  func check(_ snapshot: borrowing ModelSnapshot, _ comment: Comment? = nil) throws {
    var all: [String: QueryValue] = [:]
    for identifier in try snapshot.identifiers(ofType: index.typeName) {
      let tree = try snapshot.tree(identifier, as: index.typeName, depth: 0)
      all[identifier] = Self.value(field(of: tree))
    }
    for isDescending in [false, true] {
      var query = RecordQuery(typeName: index.typeName)
      query.order = [.field(.named(FieldPath(index.field)), isDescending: isDescending)]
      query.limit = all.count + 1
      let plan = try snapshot.plan(for: query)
      let access = QueryPlan.Access.index(
        field: index.field, rangeCount: 1, isOrdered: true)
      try #require(plan.access == (all.isEmpty ? .nothing : access), comment)
      let found = try snapshot.identifiers(matching: query)
      try #require(found.sorted() == all.keys.sorted(), comment)
      let values = found.compactMap { all[$0] }
      let sorted = values.sorted { isDescending ? $1 < $0 : $0 < $1 }
      try #require(values == sorted, comment)
    }
    // Each value finds those that have it.
    for value in Set(all.values) {
      var query = RecordQuery(typeName: index.typeName)
      query.filter = .compare(.named(FieldPath(index.field)), .equal, value)
      let found = try snapshot.identifiers(matching: query)
      try #require(found.sorted() == all.filter { $0.value == value }.keys.sorted(), comment)
    }
  }

  private func field(of tree: TreeNode?) -> TreeValue? {
    guard let tree else { return nil }
    return index.field.split(separator: ".").reduce(TreeValue?.some(.node(tree))) { value, part in
      value?[String(part)]
    }
  }

  private static func value(_ tree: TreeValue?) -> QueryValue {
    switch tree {
    case nil, .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    // A child stands there by its identifier.
    case .node(let node): .string(node.identifier)
    case .reference(let identifier, _): .string(identifier)
    case .required(let value): Self.value(value)
    default: .composite
    }
  }
}
