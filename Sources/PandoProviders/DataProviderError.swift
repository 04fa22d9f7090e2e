import PandoModels

/// A call on a provider or a manager that was refused, or data that could not be had.
///
/// ```swift
/// do {
///   try await contacts.remove(at: 9).committed()
/// } catch let error as DataProviderError where error.code == .indexOutOfRange {
///   print(error)
/// }
/// ```
///
/// The description is one line for a person: what failed, why, and what to do about it. Errors of a
/// store and of a custom cache reach the caller as they are.
public struct DataProviderError: Error, CustomStringConvertible {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the code.
    public let rawValue: String

    /// Makes a code from its name.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The manager has been closed.
    public static var closed: Code { Code(rawValue: "closed") }
    /// A model that has to be stored is not `Codable`.
    public static var notCodable: Code { Code(rawValue: "notCodable") }
    /// A model without identifier can't be deleted.
    public static var missingIdentifier: Code { Code(rawValue: "missingIdentifier") }
    /// An identifier or a cache key is empty.
    public static var emptyIdentifier: Code { Code(rawValue: "emptyIdentifier") }
    /// A position lies outside the collection.
    public static var indexOutOfRange: Code { Code(rawValue: "indexOutOfRange") }
    /// A collection that the operation needs is not there.
    public static var noSuchCollection: Code { Code(rawValue: "noSuchCollection") }
    /// An element that the operation names is not in the collection.
    public static var noSuchElement: Code { Code(rawValue: "noSuchElement") }
    /// One cache key was used with two element types.
    public static var typeCollision: Code { Code(rawValue: "typeCollision") }
    /// A custom cache let go of its completion handler without calling it.
    public static var cacheNeverAnswered: Code { Code(rawValue: "cacheNeverAnswered") }
    /// The operation can't be carried out any more, because what it was about has gone.
    public static var superseded: Code { Code(rawValue: "superseded") }
    /// The operation needs a store, and the manager is over a cache or over nothing.
    public static var noStore: Code { Code(rawValue: "noStore") }
    /// A model was to be kept in a store under another key than its identifier.
    public static var wrongKey: Code { Code(rawValue: "wrongKey") }
    /// A cache has made a model of another type than it was asked for.
    public static var wrongType: Code { Code(rawValue: "wrongType") }
  }

  /// The kind of failure.
  public let code: Code
  /// What it is about: an identifier, a cache key or a type name.
  public let subject: String
  /// Why it failed and what to do, as half a sentence without a full stop.
  public let reason: String

  init(_ code: Code, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  /// One line: what it is about and why it failed.
  public var description: String { subject.isEmpty ? reason : "\(subject): \(reason)" }
}

extension DataProviderError {
  static func notCodable(_ type: any SimpleModel.Type) -> DataProviderError {
    DataProviderError(
      .notCodable, String(describing: type),
      "is not Codable, which a model in a store must be; nothing was changed")
  }

  static func emptyIdentifier(_ type: any SimpleModel.Type) -> DataProviderError {
    DataProviderError(
      .emptyIdentifier, String(describing: type),
      "has an empty identifier; a model that is no node has nil; nothing was changed")
  }

  static var closed: DataProviderError {
    DataProviderError(.closed, "", "the data model manager has been closed; nothing was changed")
  }
}
