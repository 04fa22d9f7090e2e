package import PandoModels

/// A mistake that the consistency manager found: in a model, in its code, or in how it was called.
///
/// ```swift
/// func consistencyManager(_ manager: ConsistencyManager, found mistake: ConsistencyError) {
///   if mistake.code == .conflictingContent { print(mistake) }
/// }
/// ```
///
/// Nothing throws it: the manager goes on without what was wrong, and tells its delegate.
public struct ConsistencyError: Error, Sendable, CustomStringConvertible {
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
  }

  /// The kind of mistake.
  public let code: Code
  /// The identifier of the node it is about; `nil` if it has none or is not known.
  public let identifier: String?
  /// The name of the Swift type it is about, if known.
  public let typeName: String?
  /// What is wrong and what was done instead, as half a sentence without a full stop.
  public let reason: String
  /// The error of another layer, if one was the cause.
  public let underlying: (any Error)?

  package init(
    _ code: Code, identifier: String? = nil, type: (any SimpleModel.Type)? = nil, reason: String,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.identifier = identifier
    self.typeName = type.map { _typeName($0, qualified: false) }
    self.reason = reason
    self.underlying = underlying
  }

  /// One line: which node and type, and what is wrong.
  public var description: String {
    let subject = [typeName, identifier.map { "\"\($0)\"" }].compactMap { $0 }
    let cause = underlying.map { ": \($0)" } ?? ""
    return (subject.isEmpty ? reason : "\(subject.joined(separator: " ")): \(reason)") + cause
  }
}
