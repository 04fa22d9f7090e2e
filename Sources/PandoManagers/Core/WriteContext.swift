package import PandoStore

/// How a manager writes: to which stores, and which place the write has in the order of writes.
///
/// ```swift
/// try await books.set(book, in: .local)
/// try await books.set(book, in: .localAndRemote)  // here at once, and queued for the server
/// try await books.remove(atID: book.id, in: .remote())
/// ```
public struct WriteContext<E: Entity>: Sendable {
  /// Which stores are written.
  public enum Target: Sendable {
    /// The local stores.
    case local
    /// The server; what it answers is stored here.
    case remote(RemoteEndpoint<E>)
    /// The local stores at once, and the server.
    case localAndRemote(RemoteEndpoint<E>)
  }

  /// Something that is done in the transaction of a local write, after it.
  package typealias Step = @Sendable (inout ModelTransaction) throws -> Void

  /// Which stores are written.
  public let target: Target

  /// What the user may see; `nil` if nobody has to be asked.
  public private(set) var accessValidator: (any UserAccessValidating)?

  /// How old the values are: the place at which their request was made; `nil` for new ones.
  ///
  /// Only what nothing has changed since is written.
  public package(set) var asOf: UInt64?

  /// Done in the transaction of the local write, before it.
  package var firstStep: (@Sendable ([E], inout ModelTransaction) throws -> Void)?
  /// Done in the transaction of the local write, in this order.
  package var steps: [Step] = []
  /// The identifiers that a server has given to entities that were written by others.
  package var names: [EntityIdentifier<E>: EntityIdentifier<E>] = [:]
  /// What is written instead of given entities.
  package var update: EntityUpdate<E>?

  private init(_ target: Target) { self.target = target }

  /// The local stores.
  public static var local: WriteContext { WriteContext(.local) }

  /// The server; what it answers is stored here.
  ///
  /// - Parameter endpoint: Which request is made.
  /// - Returns: The context.
  public static func remote(endpoint: RemoteEndpoint<E> = .derived) -> WriteContext {
    WriteContext(.remote(endpoint))
  }

  /// The local stores at once, and the server.
  ///
  /// - Parameter endpoint: Which request is made.
  /// - Returns: The context.
  public static func localAndRemote(endpoint: RemoteEndpoint<E> = .derived) -> WriteContext {
    WriteContext(.localAndRemote(endpoint))
  }

  /// The local stores at once, and the server.
  public static var localAndRemote: WriteContext { .localAndRemote() }

  /// The same context with an access validator.
  ///
  /// - Parameter accessValidator: Says what the user may see.
  /// - Returns: The context.
  public func with(accessValidator: any UserAccessValidating) -> WriteContext {
    var context = self
    context.accessValidator = accessValidator
    return context
  }

  /// The request that is made; `nil` if none is.
  public var endpoint: RemoteEndpoint<E>? {
    switch target {
    case .local: nil
    case .remote(let endpoint), .localAndRemote(let endpoint): endpoint
    }
  }

  /// The same context with something that is done in the transaction of the local write.
  package func with(step: @escaping Step) -> WriteContext {
    var context = self
    context.steps.append(step)
    return context
  }

  /// Writes to the local stores what a server answered.
  ///
  /// - Parameter asOf: The place at which the request was made.
  /// - Returns: The context.
  package static func answer(asOf: UInt64) -> WriteContext {
    var context = WriteContext(.local)
    context.asOf = asOf
    return context
  }
}
