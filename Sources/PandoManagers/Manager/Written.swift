/// How far a write has come.
///
/// ```swift
/// let written = try await books.set(book, in: .localAndRemote)
/// if written.state == .queued { print("the server does not have it yet") }
/// ```
public enum WriteState: Sendable, Hashable {
  /// The local stores have the write, and the context names no server.
  case stored
  /// The request is queued; a queue on disk keeps it if the process ends.
  case queued
  /// The server has it.
  case confirmed
}

/// A write's result so far.
///
/// ```swift
/// let written = try await books.set(book, in: .localAndRemote)
/// print(written.value.title)  // here already
/// let confirmed = try await written.confirmed()  // as the server has it
/// ```
public struct Written<Value: Sendable>: Sendable {
  /// The stored value; for a late write the newer value of another write.
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

  /// Waits until the stores that the context names have the write.
  ///
  /// - Returns: The value stored then.
  /// - Throws: The error with which the server refused the write; ``ManagerError`` `conflict` if the
  ///   entity was removed meanwhile.
  /// - Complexity: O(1) if no answer of the server is awaited; else the wait, and a read of the written
  ///   entities.
  @discardableResult
  public func confirmed() async throws -> Value {
    guard let confirmation else { return value }
    return try await confirmation()
  }
}
