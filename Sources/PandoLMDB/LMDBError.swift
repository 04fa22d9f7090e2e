/// A failed operation on an environment.
///
/// Match on ``code``. ``function`` and ``detail`` are for people: which call failed, and with which
/// values.
public struct LMDBError: Error, Hashable {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow. Positive values are system error numbers (`errno`), values
  /// from −30 799 to −30 780 are LMDB's, values below −40 000 are this module's own.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number of the failure.
    public let rawValue: Int32

    /// Makes a code from its number.
    ///
    /// - Parameter rawValue: A system, LMDB or module error number.
    public init(rawValue: Int32) {
      self.rawValue = rawValue
    }
  }

  /// The kind of failure.
  public let code: Code
  /// The call that failed, such as `mdb_put`.
  public let function: String
  /// What was asked for, in words; empty when the code says it all.
  public let detail: String

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - function: The call that failed.
  ///   - detail: What was asked for, in words.
  public init(_ code: Code, function: String, detail: String = "") {
    self.code = code
    self.function = function
    self.detail = detail
  }
}
