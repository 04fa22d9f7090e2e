import PandoModels
import PandoStore

/// A manager, as graphs of all types read it.
protocol GraphSource: AnyObject, Sendable {
  /// The store on disk that has its entities, if one has.
  var followedStore: ModelStore? { get }

  /// Whether it can ask a server.
  var hasServer: Bool { get }

  /// What its store can say of an entity without waiting.
  func presentEntity(_ modelIdentifier: String) throws -> PresentEntity

  /// Asks for entities that are not here, or for all.
  func answer(_ identifiers: [ByteString], _ reading: GraphReading) async throws -> GraphAnswer

  /// Asks a server behind the caller's back.
  func refresh(_ identifiers: [ByteString], _ reading: GraphReading)

  /// Calls a closure with the identifiers of its changed entities; on the pipeline.
  ///
  /// - Returns: Ends the calls; `nil` if no local store of it can be followed.
  func watch(
    _ body: @escaping @Sendable (Set<ByteString>) -> Void
  ) -> (@Sendable () -> Void)?
}

/// What can be said of an entity without waiting.
enum PresentEntity {
  case found(any Entity)
  case absent
  /// The store has to be asked.
  case unknown
}

/// Where the entities of a graph come from.
struct GraphSources: Sendable {
  /// The store of all that is on disk.
  let store: ModelStore?
  /// How those are looked for of whose path nothing is said.
  let rest: GraphReading
  private let rootType: any Entity.Type
  private let root: any GraphSource
  private let scope: ContinuousScope

  init(
    _ root: any GraphSource, of type: any Entity.Type, _ scope: ContinuousScope,
    _ rest: GraphReading
  ) {
    // A root in memory is read at any time; what it leads to on disk is of one snapshot.
    let own = root.followedStore.flatMap { $0.isInMemory && scope.store != nil ? nil : $0 }
    store = own ?? scope.store
    rootType = type
    self.root = root
    self.scope = scope
    self.rest = rest
  }

  /// The manager of a type; `nil` if its entities are known by the store only.
  func source(of type: any Entity.Type) -> (any GraphSource)? {
    type == rootType ? root : scope.manager(of: type) as? any GraphSource
  }

  /// How entities of a type are looked for.
  func reading(_ origin: GraphOrigin?, _ source: (any GraphSource)?) -> GraphReading {
    switch origin {
    case .reading(let reading): reading
    case .fetcher: rest.local
    case nil: source?.hasServer == true ? rest : rest.local
    }
  }

  /// Asks whoever has to be asked.
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

  /// Asks a server behind the caller's back.
  func refresh(_ ask: GraphAsk, _ rules: GraphRules) {
    guard let source = source(of: ask.type) else { return }
    source.refresh(ask.identifiers, reading(ask.origin.map { rules.origin($0) }, source))
  }

  /// The types to which relationships lead, the root among them.
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

  /// Tells of changes of what is in memory.
  ///
  /// - Parameters:
  ///   - endings: Ends it.
  ///   - body: Takes the identifiers of what has changed, and whether it is of the type of the roots.
  func watch(
    until endings: Endings,
    _ body: @escaping @Sendable (Set<ByteString>, _ isRoot: Bool) -> Void
  ) {
    for type in types {
      guard let source = source(of: type) else { continue }
      if let own = source.followedStore, own === store { continue }
      let isRoot = type == rootType
      if let end = source.watch({ body($0, isRoot) }) { endings.add(end) }
    }
  }
}
