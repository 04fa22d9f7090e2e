/// An index of several fields of an entity together, or one that allows each value once.
///
/// It serves queries that fix its first fields by equality and use the next one for a range or an order.
/// With the index below, a query for the newest twenty open issues of Ada reads twenty rows.
///
/// ```swift
/// struct Issue: PersistentEntity {
///   …
///   static let indexes: [FieldIndex<Issue>] = [
///     .indexed(\.status, \.author, \.created), .unique(\.number),
///     .indexed(\.day, sums: [\.hours]),
///   ]
/// }
/// ```
/// The last one keeps totals: the number of issues and the sum of their hours in any range of days, and the issue
/// at any place in the order of days, cost O(log *n*).
///
/// The key paths are those of declared `fields`. If a record lacks a field, the index contains the value
/// under a former name, or the default.
public struct FieldIndex<E: Queryable>: Sendable {
  private let fields: [Member]
  /// The summed numbers; `nil` for an index without totals.
  private let sums: [Member]?

  /// Whether it is an index of words.
  private let holdsWords: Bool

  private init(
    _ fields: [Member], isUnique: Bool, sums: [Member]? = nil, holdsWords: Bool = false
  ) {
    self.holdsWords = holdsWords
    self.fields = fields
    self.isUnique = isUnique
    self.sums = sums
  }

  private enum Member: Sendable {
    case keyPath(any PartialKeyPath<E> & Sendable)
    case field(QueryField<E>)
    /// A text or a list of texts.
    case text(any PartialKeyPath<E> & Sendable)

    /// The declared field; `nil` if there is none.
    var field: Field<E>? {
      switch self {
      case .keyPath(let keyPath):
        E.fields.first {
          $0.reference.keyPath == keyPath && !$0.reference.hasElements && !$0.reference.isFolded
        }
      case .field(let wanted): E.fields.first { $0.reference == wanted }
      case .text(let keyPath):
        E.fields.first { $0.reference.isText(at: keyPath) }
      }
    }

    var isText: Bool { field?.reference.kinds.contains(.string) ?? false }

    /// The place of the value in a record; `nil` for what is not declared.
    var path: FieldPath? {
      // A folded field needs no declaration of its own.
      if case .field(let wanted) = self, wanted.isFolded { return wanted.path }
      return field?.path
    }

    var label: String {
      switch self {
      case .keyPath(let keyPath), .text(let keyPath): "\(keyPath)"
      case .field(let wanted): wanted.label
      }
    }
  }
  /// Whether no two entities may have the same values.
  public let isUnique: Bool

  /// An index of fields, the most important first.
  ///
  /// - Parameters:
  ///   - keyPaths: The places of the values in the entity.
  ///   - sums: The places of up to 8 numbers that the index sums up over any range. `[]` keeps only the number of
  ///     entities in any range; `nil` keeps no totals. An index with totals makes a write dearer, see
  ///     docs/benchmarks.md.
  /// - Returns: The index.
  public static func indexed(
    _ keyPaths: any PartialKeyPath<E> & Sendable...,
    sums: [any PartialKeyPath<E> & Sendable]? = nil
  ) -> FieldIndex {
    FieldIndex(
      keyPaths.map { .keyPath($0) }, isUnique: false, sums: sums?.map { .keyPath($0) })
  }

  /// An index of fields whose values, together, are unique.
  ///
  /// A write that would leave two entities with the same values throws `StoreError` `valueTaken` and changes
  /// nothing. Entities with a null value are not compared.
  ///
  /// - Parameter keyPaths: The places of the values in the entity.
  /// - Returns: The index.
  public static func unique(_ keyPaths: any PartialKeyPath<E> & Sendable...) -> FieldIndex {
    FieldIndex(keyPaths.map { .keyPath($0) }, isUnique: true)
  }

  /// An index of fields, the most important first; one may be a child or each element of a list.
  ///
  /// ```swift
  /// .indexed(.each(\.labels, \.name), .field(\.created))  // the newest with a label
  /// ```
  /// - Parameters:
  ///   - fields: The fields.
  ///   - sums: The numbers that the index sums up over any range, as in ``indexed(_:sums:)``.
  /// - Returns: The index.
  public static func indexed(
    _ fields: QueryField<E>..., sums: [any PartialKeyPath<E> & Sendable]? = nil
  ) -> FieldIndex {
    FieldIndex(fields.map { .field($0) }, isUnique: false, sums: sums?.map { .keyPath($0) })
  }

  /// An index of fields whose values, together, are unique.
  ///
  /// - Parameter fields: The fields; one may be a child.
  /// - Returns: The index.
  public static func unique(_ fields: QueryField<E>...) -> FieldIndex {
    FieldIndex(fields.map { .field($0) }, isUnique: true)
  }

  /// An index of the words of texts, which serves ``Filter/search(_:_:in:)``.
  ///
  /// ```swift
  /// static let indexes: [FieldIndex<Tea>] = [.text(\.title, \.details, \.tags)]
  /// ```
  /// It has a row for each different word of an entity, so a write of a long text is dearer than of other fields;
  /// see docs/benchmarks.md. To find entities by a whole text, use an index of the field.
  ///
  /// - Parameter keyPaths: The places of the texts, or of lists of texts, in the entity itself.
  /// - Returns: The index.
  public static func text(_ keyPaths: any PartialKeyPath<E> & Sendable...) -> FieldIndex {
    FieldIndex(keyPaths.map { .text($0) }, isUnique: false, holdsWords: true)
  }

  /// The fields of an index of words; `nil` for another one, and if one is not declared.
  var searchedFields: [QueryField<E>]? {
    guard holdsWords else { return nil }
    let found = fields.compactMap { $0.field?.reference }
    return found.count == fields.count ? found : nil
  }

  /// The index in the form of the store.
  func stored() throws(QueryError) -> ModelIndex {
    let paths = try fields.map { (member) throws(QueryError) in try Self.path(of: member) }
    if holdsWords {
      for (member, path) in zip(fields, paths) where !path.mayHaveWords || !member.isText {
        throw QueryError(
          .wrongType, member.label,
          "an index of words of \(E.modelTypeName) has texts, or lists of texts, of the model itself"
        )
      }
      return ModelIndex(typeName: E.modelTypeName, paths: [.words(of: paths)], isUnique: false)
    }
    let summed = try sums?.map { (member) throws(QueryError) in
      let path = try Self.path(of: member)
      guard member.field?.reference.kinds.contains(.number) ?? false else {
        throw QueryError(
          .wrongType, member.label,
          "an index of \(E.modelTypeName) sums up what is no number; name numbers in sums:")
      }
      return path
    }
    return ModelIndex(
      typeName: E.modelTypeName, paths: paths, isUnique: isUnique, sums: summed)
  }

  private static func path(of member: Member) throws(QueryError) -> FieldPath {
    guard let path = member.path else {
      throw QueryError(
        .unknownField, member.label,
        "an index of \(E.modelTypeName) names what is no declared field")
    }
    return path
  }

  /// Whether no two entities can have the same values of these fields.
  ///
  /// - Parameter values: Values of fields; null ones are ignored.
  /// - Returns: Whether the index is unique and the values have all of its fields.
  func tellsApart(_ values: [(field: QueryField<E>, value: QueryValue)]) -> Bool {
    isUnique
      && fields.allSatisfy { member in
        guard let reference = member.field?.reference else { return false }
        return values.contains { $0.field == reference && $0.value != .null }
      }
  }
}
