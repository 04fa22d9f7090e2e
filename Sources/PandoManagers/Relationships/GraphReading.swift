/// How the entities at the end of a path, or all others, are looked for.
struct GraphReading: Sendable {
  /// Which of them a server is asked for.
  enum Asks: Sendable {
    case never
    /// Those that are not here.
    case missing
    /// Those that are not here, and behind the caller's back the others.
    case behind
    case all
  }

  let asks: Asks
  /// Whether one that the server lacks is missing though it is here.
  let isStrict: Bool
  /// Says which ones are good enough; `nil` if all are.
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

  /// What a context says of entities of its type.
  static func own<E: Entity>(_ context: ReadContext<E>) -> GraphReading {
    let isGood = context.contract.map { contract in
      { @Sendable (entity: any Entity) in
        (entity as? E).map { contract.isValid($0, for: Query(ids: [$0.id])) } ?? false
      }
    }
    return GraphReading(
      context.source.asks, isStrict: context.source.isStrict, isGood: isGood, context, isOwn: true)
  }

  /// What a context says of entities of other types.
  static func rest<E: Entity>(_ context: ReadContext<E>) -> GraphReading {
    GraphReading(
      context.source.asks, isStrict: context.source.isStrict, isGood: nil, context, isOwn: false)
  }

  /// The same without a server.
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

/// The context of a type, whatever the type is.
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
