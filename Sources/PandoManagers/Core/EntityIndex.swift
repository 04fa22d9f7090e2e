import PandoStore

/// An index of several fields of an entity together, or one that allows each value once.
///
/// It answers equality of its first fields together with a range or an order of the next one: of the
/// index below, "the newest twenty open issues of Ada" reads twenty rows.
///
/// ```swift
/// struct Issue: PersistentEntity {
///   …
///   static let indexes: [EntityIndex<Issue>] = [
///     .indexed(\.status, \.author, \.created), .unique(\.number),
///   ]
/// }
/// ```
/// The key paths are those of declared `fields`. Where a record lacks a field that has a former name or a
/// default, that counts: for the order, and for what is unique.
public struct EntityIndex<E: Queryable>: Sendable {
  private let fields: [Member]

  private enum Member: Sendable {
    case keyPath(any PartialKeyPath<E> & Sendable)
    case field(QueryField<E>)

    /// What it stands for; `nil` if that is not declared.
    var field: EntityField<E>? {
      switch self {
      case .keyPath(let keyPath):
        E.fields.first { $0.reference.keyPath == keyPath && !$0.reference.hasElements }
      case .field(let wanted): E.fields.first { $0.reference == wanted }
      }
    }

    var label: String {
      switch self {
      case .keyPath(let keyPath): "\(keyPath)"
      case .field(let wanted): wanted.label
      }
    }
  }
  /// Whether no two entities may have the same values.
  public let isUnique: Bool

  /// An index of fields, in the order of their weight.
  ///
  /// - Parameter keyPaths: Where the values are in the entity.
  /// - Returns: The index.
  public static func indexed(_ keyPaths: any PartialKeyPath<E> & Sendable...) -> EntityIndex {
    EntityIndex(fields: keyPaths.map { .keyPath($0) }, isUnique: false)
  }

  /// An index of fields whose values, together, no two entities may share.
  ///
  /// A write that would leave two with the same values throws `StoreError` `valueTaken`, and nothing
  /// of it is kept. Entities of which one of the values is null do not count.
  ///
  /// - Parameter keyPaths: Where the values are in the entity.
  /// - Returns: The index.
  public static func unique(_ keyPaths: any PartialKeyPath<E> & Sendable...) -> EntityIndex {
    EntityIndex(fields: keyPaths.map { .keyPath($0) }, isUnique: true)
  }

  /// An index of fields, in the order of their weight, of which one may be a child or each element of a list.
  ///
  /// ```swift
  /// .indexed(.each(\.labels, \.name), .field(\.created))  // the newest with a label
  /// ```
  /// - Parameter fields: The fields.
  /// - Returns: The index.
  public static func indexed(_ fields: QueryField<E>...) -> EntityIndex {
    EntityIndex(fields: fields.map { .field($0) }, isUnique: false)
  }

  /// The index as the store keeps it.
  func stored() throws(QueryError) -> ModelIndex {
    var paths: [FieldPath] = []
    for member in fields {
      guard let field = member.field else {
        throw QueryError(
          .unknownField, member.label,
          "an index of \(E.modelTypeName) names what is no declared field")
      }
      paths.append(field.path)
    }
    return ModelIndex(typeName: E.modelTypeName, paths: paths, isUnique: isUnique)
  }

  /// Whether no two entities can have the same values of some fields.
  ///
  /// - Parameter values: Values of fields; null ones count for nothing.
  /// - Returns: Whether the fields of the index are among them, and it is unique.
  func tellsApart(_ values: [(field: QueryField<E>, value: QueryValue)]) -> Bool {
    isUnique
      && fields.allSatisfy { member in
        guard let reference = member.field?.reference else { return false }
        return values.contains { $0.field == reference && $0.value != .null }
      }
  }
}
