package import PandoStore

/// The options of a write: the stores to write, and its sequence number if it is an answer.
///
/// ```swift
/// try await books.set(book, in: .local)
/// try await books.set(book, in: .localAndRemote)  // stored, and queued for the server
/// try await books.remove(atID: book.id, in: .remote())
/// ```
public struct WriteContext<E: Entity>: Sendable {
  /// The stores to write.
  package enum Target: Sendable {
    /// The local stores.
    case local
    /// The server; its answer is stored locally.
    case remote(RemoteEndpoint<E>)
    /// The local stores immediately, and the server.
    case localAndRemote(RemoteEndpoint<E>)
  }

  /// A closure that runs in the transaction of a local write, after it.
  package typealias Step = @Sendable (inout ModelTransaction) throws -> Void

  /// The stores to write.
  package let target: Target

  /// The check of the user's access; `nil` for no check.
  public private(set) var accessValidator: (any UserAccessValidating)?

  /// The sequence number of the request that the values answer; `nil` for new values.
  ///
  /// Entities that have changed since are not written.
  package var asOf: UInt64?

  /// Runs in the transaction of the local write, before it.
  package var firstStep: (@Sendable ([E], inout ModelTransaction) throws -> Void)?
  /// Run in the transaction of the local write, after it, in order.
  package var steps: [Step] = []
  /// Identifiers that a server has assigned, by the local ones before.
  package var names: [EntityIdentifier<E>: EntityIdentifier<E>] = [:]
  /// The change to apply instead of writing entities.
  package var update: EntityUpdate<E>?

  private init(_ target: Target) { self.target = target }

  /// The local stores.
  public static var local: WriteContext { WriteContext(.local) }

  /// The server; its answer is stored locally.
  ///
  /// - Parameter endpoint: The request to send.
  /// - Returns: The context.
  public static func remote(endpoint: RemoteEndpoint<E> = .derived) -> WriteContext {
    WriteContext(.remote(endpoint))
  }

  /// The local stores immediately, and the server.
  ///
  /// - Parameter endpoint: The request to send.
  /// - Returns: The context.
  public static func localAndRemote(endpoint: RemoteEndpoint<E> = .derived) -> WriteContext {
    WriteContext(.localAndRemote(endpoint))
  }

  /// The local stores immediately, and the server.
  public static var localAndRemote: WriteContext { .localAndRemote() }

  /// The same context with an access validator.
  ///
  /// - Parameter accessValidator: The check of the user's access.
  /// - Returns: The context.
  public func with(accessValidator: any UserAccessValidating) -> WriteContext {
    var context = self
    context.accessValidator = accessValidator
    return context
  }

  /// The request to send; `nil` if the context names no server.
  public var endpoint: RemoteEndpoint<E>? {
    switch target {
    case .local: nil
    case .remote(let endpoint), .localAndRemote(let endpoint): endpoint
    }
  }

  /// The same context with one more closure for the transaction of the local write.
  package func with(step: @escaping Step) -> WriteContext {
    var context = self
    context.steps.append(step)
    return context
  }

  /// Writes an answer of a server to the local stores.
  ///
  /// - Parameter asOf: The sequence number of the request.
  /// - Returns: The context.
  package static func answer(asOf: UInt64) -> WriteContext {
    var context = WriteContext(.local)
    context.asOf = asOf
    return context
  }
}
