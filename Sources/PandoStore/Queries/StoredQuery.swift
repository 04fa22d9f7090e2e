import PandoModels
import PandoSystem

/// A typed query in the form that the planner reads.
///
/// Fields have their stored names, and identifiers are texts. A value that only the decoded model has
/// is a number.
package struct StoredQuery<E: Queryable> {
  package var query = RecordQuery(typeName: E.modelTypeName)
  /// The fields whose values are read from the decoded model.
  private var computed: [QueryField<E>] = []
  /// The fields whose names no instance in this process has proven yet.
  private(set) var open: [DeclaredField] = []

  package init(_ typed: Query<E>) throws(QueryError) {
    try typed.validate()
    query.filter = filter(typed.filter.tree)
    query.offset = typed.offset
    query.limit = typed.limit
    // Most queries have neither; to go through nothing costs more than to ask.
    if !typed.uniqueBy.isEmpty { query.uniqueBy = typed.uniqueBy.map { field($0) } }
    if typed.order.isEmpty { return }
    query.order.reserveCapacity(typed.order.count)
    for order in typed.order {
      switch order.key {
      // The natural order is total, so later keys have no effect.
      case .natural: return
      case .field(let field, let isDescending):
        query.order.append(.field(self.field(field), isDescending: isDescending))
      case .relevance: query.order.append(.relevance)
      case .identifiers(let ids):
        query.order.append(
          .identifiers(Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first })))
      }
    }
  }

  /// The value of a computed field.
  package func value(_ number: Int, of entity: E) -> QueryValue { computed[number].value(entity) }

  private mutating func filter(
    _ tree: FilterTree<QueryField<E>>
  ) -> FilterTree<RecordField> {
    switch tree {
    case .all: .all
    case .compare(let field, .equal, let value) where field.isIdentifier:
      .isIn(.identifier, Self.identifiers([value]))
    case .isIn(let field, let values) where field.isIdentifier:
      .isIn(.identifier, Self.identifiers(values.values))
    case .compare(let field, let comparison, let value):
      .compare(self.field(field), comparison, value)
    case .isIn(let field, let values): .isIn(self.field(field), values)
    case .pattern(let field, let pattern): .pattern(self.field(field), pattern)
    case .prefix(let field, let prefix): .prefix(self.field(field), prefix)
    case .part(let field, let part): .part(self.field(field), part)
    case .search(let fields, let search): .search(fields.map { self.field($0) }, search)
    case .and(let parts): .and(parts.map { filter($0) })
    case .or(let parts): .or(parts.map { filter($0) })
    case .not(let part): .not(filter(part))
    }
  }

  private static func identifiers(_ values: [QueryValue]) -> QueryValueSet {
    QueryValueSet(values.compactMap { E.nodeIdentifier(of: $0).map { .string($0) } })
  }

  mutating func field(_ field: QueryField<E>) -> RecordField {
    if field.namesAllChildren { return .children }
    guard let path = field.path else {
      return field.namesOwnChildren
        ? .computedChild(number(of: field)) : .computed(number(of: field), stored: nil)
    }
    // Proven here, or, where a type makes its fields anew each time, in the first ones.
    let name = field.declared?.path.name ?? path.name
    if field.declared?.isProven == false, let declared = E.declaredFields.open(name) {
      open.append(declared)
    }
    // A child of a type that only instances tell may have a default or a former name.
    if !path.isResolved, E.declaredFields.mayBeElsewhereInChild(name) {
      return .computed(number(of: field), stored: path)
    }
    return field.namesChildren ? .child(path) : .named(path)
  }

  private mutating func number(of field: QueryField<E>) -> Int {
    if let number = computed.firstIndex(of: field) { return number }
    computed.append(field)
    return computed.count - 1
  }
}

extension StoredQuery {
  /// A question by the fields of this query.
  mutating func question(_ measure: Measure<QueryField<E>>) -> RecordQuestion {
    NumberedMeasure(measure).map { field($0) }
  }
}
