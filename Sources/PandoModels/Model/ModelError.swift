/// A model that can't be stored, or a record that can't be read as the model asked for.
///
/// ```swift
/// do {
///   let person = try store.read { try $0.model("Person:7", as: Person.self) }
/// } catch let error as ModelError where error.code == .missingField {
///   print(error.identifier ?? "", error.field ?? "", error.reason)
/// }
/// ```
public struct ModelError: Error {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the failure.
    public let rawValue: String

    /// Makes a code from its name.
    ///
    /// - Parameter rawValue: The name of the failure.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The identifier of the node it is about; `nil` if there is none or it is not known.
  public internal(set) var identifier: String?
  /// The name of the model type it is about, if known.
  public internal(set) var typeName: String?
  /// What is wrong, for people.
  public let reason: String
  /// What was thrown by the model's own coding, if this error only says where.
  public let underlying: (any Error)?

  /// The keys and indexes from the record that was asked for to the value it is about.
  private(set) var path: [String] = []
  /// How many of them lead to the node that ``identifier`` names.
  private var nodeDepth = 0

  @inline(never)
  package init(
    _ code: Code, identifier: String? = nil, typeName: String? = nil, reason: String,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.identifier = identifier
    self.typeName = typeName
    self.reason = reason
    self.underlying = underlying
  }

  /// Which field of the node it is about, as in `author.emails[2]`; `nil` if it is about all of it.
  public var field: String? {
    let own = path.dropFirst(nodeDepth)
    return own.isEmpty ? nil : Self.joined(own)
  }

  /// The field of the record that was asked for in which it happened, however deep inside.
  package var topField: String? { path.first }

  /// A kept `Decoder`, or a container of one, was used after the model had been made.
  package static var snapshotEnded: ModelError {
    @inline(never) get {
      ModelError(
        .snapshotEnded,
        reason: "a decoder was kept and used after the snapshot it read from had ended")
    }
  }

  /// The same error with the node it is about, where that is not known yet.
  package func about(identifier: String, typeName: String) -> ModelError {
    guard self.identifier == nil else { return self }
    var error = self
    error.identifier = identifier
    error.typeName = typeName
    return error
  }

  /// The same error inside a field.
  @inline(never)
  package func inside(_ key: String) -> ModelError {
    var error = self
    error.path.insert(key, at: 0)
    if identifier != nil { error.nodeDepth += 1 }
    return error
  }

  /// Joins keys by dots; indexes are in brackets already.
  private static func joined(_ path: ArraySlice<String>) -> String {
    path.dropFirst().reduce(into: path.first ?? "") { text, key in
      text += key.hasPrefix("[") ? key : ".\(key)"
    }
  }
}

extension ModelError.Code {
  /// An identifier occurs inside its own subtree.
  public static var cyclicModel: Self { Self(rawValue: "cyclicModel") }
  /// An identifier is empty; a model that is no node has `nil`.
  public static var emptyIdentifier: Self { Self(rawValue: "emptyIdentifier") }
  /// The root of a tree has no identifier.
  public static var missingIdentifier: Self { Self(rawValue: "missingIdentifier") }
  /// Nodes are nested deeper than 1 024 levels, or values, lists and maps in one node deeper than 128.
  public static var nestingTooDeep: Self { Self(rawValue: "nestingTooDeep") }
  /// A record lacks a field that the type requires.
  public static var missingField: Self { Self(rawValue: "missingField") }
  /// A field holds a value of another kind than the type wants.
  public static var typeMismatch: Self { Self(rawValue: "typeMismatch") }
  /// The bytes of a record are not what a record is made of.
  public static var invalidRecord: Self { Self(rawValue: "invalidRecord") }
  /// A kept `Decoder` was used after its snapshot had ended.
  public static var snapshotEnded: Self { Self(rawValue: "snapshotEnded") }
  /// A kept `Encoder` was used after its model had been encoded.
  public static var encodingEnded: Self { Self(rawValue: "encodingEnded") }
  /// A generic or local type does not give itself a name.
  public static var unnamedType: Self { Self(rawValue: "unnamedType") }
  /// A type name is empty, too long, or holds control characters.
  public static var badTypeName: Self { Self(rawValue: "badTypeName") }
  /// A model that has to be coded is not `Codable`.
  public static var notCodable: Self { Self(rawValue: "notCodable") }
  /// A model's own coding threw, or asked for something impossible.
  public static var codingFailed: Self { Self(rawValue: "codingFailed") }
  /// A field that a type declares for queries is coded under another name, or not at all.
  public static var misdeclaredField: Self { Self(rawValue: "misdeclaredField") }
  /// Two keys of a dictionary are stored under one name, or two stored keys are equal in Swift.
  public static var duplicateKey: Self { Self(rawValue: "duplicateKey") }
}

extension ModelError: CustomStringConvertible {
  /// One line: which node and field, and what is wrong.
  public var description: String {
    var subject = typeName ?? ""
    if let identifier { subject += subject.isEmpty ? "\"\(identifier)\"" : " \"\(identifier)\"" }
    if let field { subject += subject.isEmpty ? "field \(field)" : ", field \(field)" }
    let cause = underlying.map { ": \($0)" } ?? ""
    return (subject.isEmpty ? reason : "\(subject): \(reason)") + cause
  }
}
