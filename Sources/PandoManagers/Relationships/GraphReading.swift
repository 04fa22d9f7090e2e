/// How the entities at the end of a path, or all others, are read.
struct GraphReading: Sendable {
  /// The entities to request from a server.
  enum Asks: Sendable {
    case never
    /// Entities that the local stores lack.
    case missing
    /// Entities that the local stores lack, and the others in the background.
    case behind
    case all
  }

  let asks: Asks
  /// Whether an entity that the server lacks is missing even if a local store has it.
  let isStrict: Bool
  /// Whether an entity meets the contract; `nil` without a contract.
  let isGood: (@Sendable (any Entity) -> Bool)?
  private let context: any RelatedContext
  private let isOwn: Bool

  private init(
    _ asks: Asks, isStrict: Bool, isGood: (@Sendable (any Entity) -> Bool)?,
    _ context: any RelatedContext, isOwn: Bool
  ) {
    self.asks = asks
    self.isStrict = isStrict
    self.isGood = isGood
    self.context = context
    self.isOwn = isOwn
  }

  /// The reading of a context for entities of its type.
  static func own<E: Entity>(_ context: ReadContext<E>) -> GraphReading {
    let isGood = context.contract.map { contract in
      { @Sendable (entity: any Entity) in
        (entity as? E).map { contract.isValid($0, for: Query(ids: [$0.id])) } ?? false
      }
    }
    return GraphReading(
      context.source.asks, isStrict: context.source.isStrict, isGood: isGood, context, isOwn: true)
  }

  /// The reading of a context for entities of other types.
  static func rest<E: Entity>(_ context: ReadContext<E>) -> GraphReading {
    GraphReading(
      context.source.asks, isStrict: context.source.isStrict, isGood: nil, context, isOwn: false)
  }

  /// The same reading without a server.
  var local: GraphReading {
    GraphReading(.never, isStrict: false, isGood: isGood, context, isOwn: isOwn)
  }

  /// The context for entities of a type.
  func context<E: Entity>(of type: E.Type) -> ReadContext<E> {
    guard isOwn else { return context.related(type) }
    guard let context = context as? ReadContext<E> else {
      preconditionFailure("the context of a path is of the type at its end")
    }
    return context
  }
}

/// A context of any entity type.
private protocol RelatedContext: Sendable {
  func related<Other: Entity>(_ type: Other.Type) -> ReadContext<Other>
}

extension ReadContext: RelatedContext {}

extension ReadContext.Source {
  fileprivate var asks: GraphReading.Asks {
    guard server != nil else { return .never }
    return switch self {
    case .local: .never
    case .remote, .remoteOrLocal: .all
    case .localOr: .missing
    case .localThen, .staleWhileRevalidate: .behind
    }
  }

  fileprivate var isStrict: Bool {
    if case .remote = self { return true }
    return false
  }
}
