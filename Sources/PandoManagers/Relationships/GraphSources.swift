import PandoModels
import PandoStore

/// A manager, for graphs of any type.
protocol GraphSource: AnyObject, Sendable {
  /// The store on disk that has its entities, if there is one.
  var followedStore: ModelStore? { get }

  /// Whether it has a server.
  var hasServer: Bool { get }

  /// The answer of its store to a read without waiting.
  func presentEntity(_ modelIdentifier: String) throws -> PresentEntity

  /// Reads entities that are not present, or all, and requests them.
  func answer(_ identifiers: [ByteString], _ reading: GraphReading) async throws -> GraphAnswer

  /// Requests entities in the background.
  func refresh(_ identifiers: [ByteString], _ reading: GraphReading)

  /// Calls a closure with each change of its entities; on the pipeline.
  ///
  /// - Returns: Ends the calls; `nil` if no local store of it can be followed.
  func watch(
    _ body: @escaping @Sendable (WatchedChange) -> Void
  ) -> (@Sendable () -> Void)?
}

/// An answer without waiting.
enum PresentEntity {
  case found(any Entity)
  case absent
  /// The store has to be read.
  case unknown
}

/// The sources of a graph's entities.
struct GraphSources: Sendable {
  /// The store of all entities on disk.
  let store: ModelStore?
  /// The reading for entities whose path declares none.
  let rest: GraphReading
  private let rootType: any Entity.Type
  private let root: any GraphSource
  private let scope: FollowedScope

  init(
    _ root: any GraphSource, of type: any Entity.Type, _ scope: FollowedScope,
    _ rest: GraphReading
  ) {
    // A root in memory is read at any time; entities on disk to which it leads are read from one snapshot.
    let own = root.followedStore.flatMap { $0.isInMemory && scope.store != nil ? nil : $0 }
    store = own ?? scope.store
    rootType = type
    self.root = root
    self.scope = scope
    self.rest = rest
  }

  /// The manager of a type; `nil` if only the store has its entities.
  func source(of type: any Entity.Type) -> (any GraphSource)? {
    type == rootType ? root : scope.manager(of: type) as? any GraphSource
  }

  /// The reading of entities of a type.
  func reading(_ origin: GraphOrigin?, _ source: (any GraphSource)?) -> GraphReading {
    switch origin {
    case .reading(let reading): reading
    case .fetcher: rest.local
    case nil: source?.hasServer == true ? rest : rest.local
    }
  }

  /// Sends a request to its source.
  func answer(to ask: GraphAsk, _ rules: GraphRules) async throws -> GraphAnswer {
    let origin = ask.origin.map { rules.origin($0) }
    do {
      if case .fetcher(let fetcher) = origin {
        return GraphAnswer(unstored: try await fetcher.fetch(ask.identifiers.map(\.text)))
      }
      guard let source = source(of: ask.type) else {
        throw ManagerError(
          .unknownEntity, ask.type.modelTypeName,
          "the container has no such type; name it where the container is made")
      }
      return try await source.answer(ask.identifiers, reading(origin, source))
    } catch  where rules.toleratesFailures && !(error is CancellationError) {
      return GraphAnswer(error: error)
    }
  }

  /// Sends a request in the background.
  func refresh(_ ask: GraphAsk, _ rules: GraphRules) {
    guard let source = source(of: ask.type) else { return }
    source.refresh(ask.identifiers, reading(ask.origin.map { rules.origin($0) }, source))
  }

  /// The types to which relationships lead, with the root type.
  private var types: [any Entity.Type] {
    var found = [rootType]
    var index = 0
    while index < found.count {
      let type: any Entity.Type = found[index]
      for target in Self.targets(of: type) where !found.contains(where: { $0 == target }) {
        found.append(target)
      }
      index += 1
    }
    return found
  }

  private static func targets<E: Entity>(of type: E.Type) -> [any Entity.Type] {
    E.relationships.map(\.target)
  }

  /// Calls `body` for each change of entities in memory, or in another store than ``store``.
  ///
  /// - Parameters:
  ///   - endings: Ends the watch.
  ///   - body: Receives the change of entities of one type, and whether they have the root type.
  func watch(
    until endings: Endings,
    _ body: @escaping @Sendable (WatchedChange, _ isRoot: Bool) -> Void
  ) {
    for type in types {
      guard let source = source(of: type) else { continue }
      if let own = source.followedStore, own === store { continue }
      let isRoot = type == rootType
      if let end = source.watch({ body($0, isRoot) }) { endings.add(end) }
    }
  }
}
