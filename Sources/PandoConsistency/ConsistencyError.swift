package import PandoModels

/// A mistake in a model, in its code, or in a call of the consistency manager.
///
/// ```swift
/// func consistencyManager(_ manager: ConsistencyManager, found mistake: ConsistencyError) {
///   if mistake.code == .conflictingContent { print(mistake) }
/// }
/// ```
///
/// It is never thrown. The manager continues without the invalid part and reports the mistake to
/// its delegate.
public struct ConsistencyError: Error, Sendable, CustomStringConvertible {
  /// The kind of mistake.
  ///
  /// Match on this; the set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the code.
    public let rawValue: String

    /// Creates a code from its name.
    ///
    /// - Parameter rawValue: The name of the code.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of mistake.
  public let code: Code
  /// The identifier of the affected node; `nil` if it has none or if it is unavailable.
  public let identifier: String?
  /// The name of the affected Swift type; `nil` if it is unavailable.
  public let typeName: String?
  /// The mistake and its handling, without a full stop at the end.
  public let reason: String
  /// The error of another layer that was the cause; `nil` if there is none.
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

  /// One line: the type, the identifier, and the reason.
  public var description: String {
    let subject = [typeName, identifier.map { "\"\($0)\"" }].compactMap { $0 }
    let cause = underlying.map { ": \($0)" } ?? ""
    return (subject.isEmpty ? reason : "\(subject.joined(separator: " ")): \(reason)") + cause
  }
}
