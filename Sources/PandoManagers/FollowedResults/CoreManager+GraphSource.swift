import PandoModels
import PandoStore

extension CoreManager: GraphSource {
  var followedStore: ModelStore? { stack.followedStore }
  var hasServer: Bool { !stack.remote.isEmpty }

  func presentEntity(_ modelIdentifier: String) throws -> PresentEntity {
    guard !stack.local.isEmpty else { return .absent }
    guard let store = stack.directLast else { return .unknown }
    guard let identifier = EntityIdentifier<E>(modelIdentifier: modelIdentifier) else {
      return .absent
    }
    return switch try store.directAnswer(identifier) {
    case .found(let entity): .found(entity)
    case .absent: .absent
    case .unknown: .unknown
    }
  }

  /// Reads local stores that can't answer without waiting, then the server.
  func answer(_ identifiers: [ByteString], _ reading: GraphReading) async throws -> GraphAnswer {
    let context = reading.context(of: E.self)
    var wanted = identifiers.compactMap { EntityIdentifier<E>(modelIdentifier: $0.text) }
    var answer = GraphAnswer()
    let isDirect = stack.local.isEmpty || stack.directLast != nil
    if !isDirect, reading.asks != .all {
      let request = EntityRead(getting: wanted)
      let found = try await read(request, in: context.with(source: .local)).entities
      answer.unstored += found
      wanted = wanted.without(found)
    }
    if case .staleWhileRevalidate(let maxAge, _) = context.source {
      wanted = try stale(wanted, in: context, maxAge)
    }
    guard reading.asks != .never, let server = context.source.server, !wanted.isEmpty,
      reading.asks == .all || mayAskServer(context)
    else { return answer }
    do {
      let asked = context.with(source: server)
      let found = try await read(EntityRead(getting: wanted), in: asked).entities
      let areStored = isDirect && !stack.local.isEmpty && server.remote?.strategy != .doNotPersist
      if !areStored { answer.unstored += found }
      answer.lacked = wanted.without(found).map { ByteString($0.modelIdentifier) }
    } catch let failure as any RemoteFailure
      where failure.remoteFailureKind == .connection && reading.asks == .behind
    {
      // The graph shows the local entities without the server.
    }
    return answer
  }

  func refresh(_ identifiers: [ByteString], _ reading: GraphReading) {
    guard mayAskServer(reading.context(of: E.self)) else { return }
    background.start { [self] in
      do {
        _ = try await answer(identifiers, reading)
      } catch {
        events?(ManagerEvent(.failedBackgroundRead, E.modelTypeName, error))
      }
    }
  }

  /// The identifiers without a recent answer of a server.
  private func stale(
    _ identifiers: [EntityIdentifier<E>], in context: ReadContext<E>, _ maxAge: Duration
  ) throws -> [EntityIdentifier<E>] {
    try identifiers.filter { identifier in
      var present: [E] = []
      if case .found(let entity) = try stack.directLast?.directAnswer(identifier) {
        present = [entity]
      }
      return try !isFresh(
        EntityRead(getting: [identifier]), in: context, maxAge, present: present)
    }
  }

  private func mayAskServer(_ context: ReadContext<E>) -> Bool {
    context.accessValidator.map { $0.userAccess.level == .remote } ?? true
  }

  func watch(
    _ body: @escaping @Sendable (WatchedChange) -> Void
  ) -> (@Sendable () -> Void)? {
    if let feed { return feed.watch { body(.nodes($0)) } }
    guard let store = stack.followedStore else { return nil }
    return (try? StoreHub.hub(of: store))?.watch(E.identifierNamespace, body)
  }
}

extension Array {
  /// The identifiers that are not among those of the given entities.
  fileprivate func without<E: Entity>(_ entities: [E]) -> [EntityIdentifier<E>]
  where Element == EntityIdentifier<E> {
    let found = Set(entities.map(\.id))
    return filter { !found.contains($0) }
  }
}
