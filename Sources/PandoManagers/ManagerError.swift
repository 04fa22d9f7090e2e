/// A failed call of a manager or a store of entities.
///
/// ```swift
/// do {
///   try await books.set(book, in: .localAndRemote).confirmed()
/// } catch let error as ManagerError where error.code == .conflict {
///   print(error)
/// }
/// ```
///
/// The description is one line for a person: the failure, its reason, and what to do.
public struct ManagerError: Error, CustomStringConvertible {
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

    /// Several stores failed; `underlying` has their errors in the order of the reads.
    public static var composite: Code { Code(rawValue: "composite") }
    /// The entity was removed later than the write began.
    public static var conflict: Code { Code(rawValue: "conflict") }
    /// The user has no access, or the access changed before the answer arrived.
    public static var userAccessInvalid: Code { Code(rawValue: "userAccessInvalid") }
    /// There is no such entity.
    public static var notFound: Code { Code(rawValue: "notFound") }
    /// The stack has no store of the level that the context names.
    public static var noStore: Code { Code(rawValue: "noStore") }
    /// The container has no such entity type.
    public static var unknownEntity: Code { Code(rawValue: "unknownEntity") }
    /// No stored record of an entity type fits the type.
    public static var incompatibleEntity: Code { Code(rawValue: "incompatibleEntity") }
    /// A newer request replaced a queued one, or all local data was removed meanwhile.
    public static var aborted: Code { Code(rawValue: "aborted") }
    /// The container, or the followed store, has been closed.
    public static var closed: Code { Code(rawValue: "closed") }
  }

  /// The kind of failure.
  public let code: Code
  /// The subject: an identifier or a type name.
  public let subject: String
  /// The reason and what to do, as half a sentence without a full stop.
  public let reason: String
  /// The errors of the stores beneath, if they were the cause.
  public let underlying: [any Error]

  package init(
    _ code: Code, _ subject: String, _ reason: String, underlying: [any Error] = []
  ) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.underlying = underlying
  }

  /// One line: the subject and the reason.
  public var description: String {
    let text = subject.isEmpty ? reason : "\(subject): \(reason)"
    return underlying.isEmpty
      ? text : text + ": " + underlying.map { "\($0)" }.joined(separator: "; ")
  }
}
