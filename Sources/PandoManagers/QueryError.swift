/// A query or an identifier that makes no sense.
///
/// ```swift
/// do {
///   let filter = try Filter<Book>(field: "pages", .equal, .integer(100))
/// } catch where error.code == .unknownField {
///   print(error)
/// }
/// ```
///
/// The description is one line for a person: what it is about, and why it is refused.
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
    /// A field is compared with a value that it can never have.
    public static var wrongType: Code { Code(rawValue: "wrongType") }
    /// A regular expression can't be read.
    public static var invalidRegularExpression: Code { Code(rawValue: "invalidRegularExpression") }
    /// The limit is below zero.
    public static var negativeLimit: Code { Code(rawValue: "negativeLimit") }
    /// The offset is below zero.
    public static var negativeOffset: Code { Code(rawValue: "negativeOffset") }
    /// The place after which a result was to go on is no longer known.
    public static var lostPlace: Code { Code(rawValue: "lostPlace") }
    /// Only a store on disk can answer the query.
    public static var needsStore: Code { Code(rawValue: "needsStore") }
    /// An identifier is empty or looks like one of the other form.
    public static var invalidIdentifier: Code { Code(rawValue: "invalidIdentifier") }
  }

  /// The kind of mistake.
  public let code: Code
  /// What it is about: a field, a type, a pattern.
  public let subject: String
  /// Why it is refused, as half a sentence without a full stop.
  public let reason: String

  package init(_ code: Code, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  /// One line: what it is about and why it is refused.
  public var description: String { "\(subject): \(reason)" }
}
