import PandoModels

/// A refused call of a provider or a manager, or a failed read.
///
/// ```swift
/// do {
///   try await contacts.remove(at: 9).committed()
/// } catch let error as DataProviderError where error.code == .indexOutOfRange {
///   print(error)
/// }
/// ```
///
/// The description is one line: the failure, its reason, and the remedy. Errors of a store and of a
/// custom cache reach the caller unchanged.
public struct DataProviderError: Error, CustomStringConvertible {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the code.
    public let rawValue: String

    /// Creates a code from its name.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The manager was closed.
    public static var closed: Code { Code(rawValue: "closed") }
    /// A model that must be stored is not `Codable`.
    public static var notCodable: Code { Code(rawValue: "notCodable") }
    /// A model to delete has no identifier, or a provider to update shows no model.
    public static var missingIdentifier: Code { Code(rawValue: "missingIdentifier") }
    /// An identifier or a cache key is empty.
    public static var emptyIdentifier: Code { Code(rawValue: "emptyIdentifier") }
    /// A position is outside the collection.
    public static var indexOutOfRange: Code { Code(rawValue: "indexOutOfRange") }
    /// The operation needs a collection that does not exist.
    public static var noSuchCollection: Code { Code(rawValue: "noSuchCollection") }
    /// The operation needs a model that does not exist.
    public static var noSuchModel: Code { Code(rawValue: "noSuchModel") }
    /// The operation names an element that is not in the collection.
    public static var noSuchElement: Code { Code(rawValue: "noSuchElement") }
    /// One cache key was used with two element types.
    public static var typeCollision: Code { Code(rawValue: "typeCollision") }
    /// A custom cache released its completion handler without calling it.
    public static var cacheNeverAnswered: Code { Code(rawValue: "cacheNeverAnswered") }
    /// The element or node of the operation was removed before the operation ran.
    public static var superseded: Code { Code(rawValue: "superseded") }
    /// The operation needs a store, and the manager has none.
    public static var noStore: Code { Code(rawValue: "noStore") }
    /// The key of a model to store is not its identifier.
    public static var wrongKey: Code { Code(rawValue: "wrongKey") }
    /// A cache has made a model of another type than requested.
    public static var wrongType: Code { Code(rawValue: "wrongType") }
  }

  /// The kind of failure.
  public let code: Code
  /// The affected identifier, cache key or type name.
  public let subject: String
  /// The reason and the remedy, without a full stop at the end.
  public let reason: String

  init(_ code: Code, _ subject: String, _ reason: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
  }

  /// One line: the subject and the reason.
  public var description: String { subject.isEmpty ? reason : "\(subject): \(reason)" }
}

extension DataProviderError {
  static func notCodable(_ type: any SimpleModel.Type) -> DataProviderError {
    DataProviderError(
      .notCodable, String(describing: type),
      "is not Codable; a store requires Codable models; nothing was changed")
  }

  static func emptyIdentifier(_ type: any SimpleModel.Type) -> DataProviderError {
    DataProviderError(
      .emptyIdentifier, String(describing: type),
      "has an empty identifier; a model that is not a node must have nil; nothing was changed")
  }

  static func noSuchModel(_ identifier: String) -> DataProviderError {
    DataProviderError(
      .noSuchModel, identifier,
      "there is no such model, or it was deleted meanwhile; nothing was changed")
  }

  static var closed: DataProviderError {
    DataProviderError(.closed, "", "the data model manager was closed; nothing was changed")
  }
}
