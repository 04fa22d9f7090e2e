extension CoreManager {
  /// Reads one entity; without waiting if the nearest store can answer.
  func entity(
    _ identifier: EntityIdentifier<E>, in context: ReadContext<E>
  ) async throws -> E? {
    let access = try AccessCheck(context.accessValidator, E.self)
    let found: E?
    switch try directAnswer(identifier, in: context) {
    case .found(let entity): found = entity
    case .absent: found = nil
    case .unknown:
      return try await read(EntityRead(getting: [identifier]), in: context, access).first
    }
    try access.confirm()
    return found
  }

  /// The answer of the nearest store; `unknown` if another store may have to be read.
  private func directAnswer(
    _ identifier: EntityIdentifier<E>, in context: ReadContext<E>
  ) throws -> DirectAnswer<E> {
    let isLast: Bool
    switch context.source {
    case .local: isLast = stack.local.count == 1
    case .localOr: isLast = false
    case .localThen, .remote, .remoteOrLocal, .staleWhileRevalidate: return .unknown
    }
    guard stack.isInStep, let store = stack.readable.first else { return .unknown }
    let answer: DirectAnswer<E>
    do {
      answer = try store.directAnswer(identifier)
    } catch {
      if isLast { throw error }
      return .unknown
    }
    switch answer {
    case .found(let entity):
      guard let contract = context.contract else { return answer }
      return contract.isValid(entity, for: Query(ids: [identifier])) ? answer : .unknown
    case .absent: return isLast ? answer : .unknown
    case .unknown: return answer
    }
  }
}
