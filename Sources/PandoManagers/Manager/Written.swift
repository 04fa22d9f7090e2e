/// How far a write has come.
///
/// ```swift
/// let written = try await books.set(book, in: .localAndRemote)
/// if written.state == .queued { print("the server does not have it yet") }
/// ```
public enum WriteState: Sendable, Hashable {
  /// It is in the local stores, which is all that was asked for.
  case stored
  /// The server does not have it yet; it will, whatever happens to this process.
  case queued
  /// The server has it.
  case confirmed
}

/// What a write has led to so far.
///
/// ```swift
/// let written = try await books.set(book, in: .localAndRemote)
/// print(written.value.title)  // here already
/// let confirmed = try await written.confirmed()  // as the server has it
/// ```
public struct Written<Value: Sendable>: Sendable {
  /// What is stored now: for a write that is late what somebody else has stored.
  public let value: Value

  /// How far the write has come.
  public let state: WriteState

  private let confirmation: (@Sendable () async throws -> Value)?

  package init(
    _ value: Value, _ state: WriteState,
    confirmation: (@Sendable () async throws -> Value)? = nil
  ) {
    self.value = value
    self.state = state
    self.confirmation = confirmation
  }

  /// Waits until the write has come as far as was asked for.
  ///
  /// - Returns: What is stored then.
  /// - Throws: What the server refused the write with; ``ManagerError`` `conflict` when somebody
  ///   removed the entity meanwhile.
  /// - Complexity: O(1) if the server has not to be waited for; else the wait, and a read of what was written.
  @discardableResult
  public func confirmed() async throws -> Value {
    guard let confirmation else { return value }
    return try await confirmation()
  }
}
