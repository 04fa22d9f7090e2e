/// An invalid query or identifier.
///
/// ```swift
/// do {
///   let filter = try Filter<Book>(field: "pages", .equal, .integer(100))
/// } catch where error.code == .unknownField {
///   print(error)
/// }
/// ```
///
/// The description is one line for a person: the subject and the reason.
public struct QueryError: Error, Hashable, CustomStringConvertible {
  /// The kind of mistake.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the code.
    public let rawValue: String

    /// Makes a code from its name.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The entity type declares no field of this name.
    public static var unknownField: Code { Code(rawValue: "unknownField") }
    /// A field is compared with a value of a kind that it never has.
    public static var wrongType: Code { Code(rawValue: "wrongType") }
    /// A sum does not fit the type of its answer.
    public static var overflow: Code { Code(rawValue: "overflow") }
    /// A regular expression can't be read.
    public static var invalidRegularExpression: Code { Code(rawValue: "invalidRegularExpression") }
    /// The limit is below zero.
    public static var negativeLimit: Code { Code(rawValue: "negativeLimit") }
    /// The offset is below zero.
    public static var negativeOffset: Code { Code(rawValue: "negativeOffset") }
    /// The position after which a page begins can't be found any more.
    public static var lostPlace: Code { Code(rawValue: "lostPlace") }
    /// A cursor is damaged, or belongs to another order or type.
    public static var invalidCursor: Code { Code(rawValue: "invalidCursor") }
    /// A query has no pages: it skips entities, or its order changes without a write of them.
    public static var noPages: Code { Code(rawValue: "noPages") }
    /// The order is by relevance, but the filter has no search that each match meets.
    public static var noSearch: Code { Code(rawValue: "noSearch") }
    /// Only a store can answer the query.
    public static var needsStore: Code { Code(rawValue: "needsStore") }
    /// An identifier has an empty key, or a remote one begins with `local:`.
    public static var invalidIdentifier: Code { Code(rawValue: "invalidIdentifier") }
  }

  /// The kind of mistake.
  public let code: Code
  /// The subject: a field, a type, a pattern.
  public let subject: String
  /// The reason, as half a sentence without a full stop.
  public let reason: String

  package init(_ code: Code, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  /// A condition or an order of a type needs more than the entities themselves.
  static func onlyInStore(_ typeName: String) -> QueryError {
    QueryError(
      .needsStore, typeName,
      "only a store has the models that hold or name an entity, its state on a server, and its relevance"
    )
  }

  /// One line: the subject and the reason.
  public var description: String { "\(subject): \(reason)" }
}
