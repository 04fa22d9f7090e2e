/// An error of a remote store, with its kind.
///
/// ```swift
/// struct Offline: RemoteFailure {
///   var remoteFailureKind: RemoteFailureKind { .connection }
/// }
/// ```
public protocol RemoteFailure: Error {
  /// The kind of the failure.
  var remoteFailureKind: RemoteFailureKind { get }
}

/// The kinds of failures that a manager handles differently.
///
/// ```swift
/// do {
///   let found = try await books.all(in: .remote())
/// } catch let error as any RemoteFailure where error.remoteFailureKind == .connection {
///   print("try again later")
/// }
/// ```
public enum RemoteFailureKind: Sendable, Hashable {
  /// The server can't be reached, so there is no answer.
  case connection
  /// The server does not have the entity (404).
  case notFound
  /// The server refused the request, or its answer can't be read.
  case other
}
