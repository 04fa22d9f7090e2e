import PandoModels

extension CoreManager {
  /// Answers a read.
  package func read(
    _ request: EntityRead<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    try request.query.validate()
    return try await read(request, in: context, AccessCheck(context.accessValidator, E.self))
  }

  /// Answers a read whose query and access have been checked.
  func read(
    _ request: EntityRead<E>, in context: ReadContext<E>, _ access: AccessCheck
  ) async throws -> QueryResult<E> {
    let result = try await answer(request, from: context.source, in: context, access)
    try access.confirm()
    return result
  }

  private func answer(
    _ request: EntityRead<E>, from source: ReadContext<E>.Source, in context: ReadContext<E>,
    _ access: AccessCheck
  ) async throws -> QueryResult<E> {
    switch source {
    case .local: return try await localAnswer(request, in: context).get()
    case .remote:
      return try await remoteAnswer(request, in: context.with(source: source), access)
    case .remoteOrLocal:
      guard access.reachesServer else { return try await localAnswer(request, in: context).get() }
      return try await remoteOrLocalAnswer(request, in: context.with(source: source), access)
    case .localOr(let other):
      return try await localAnswer(request, or: other, in: context, access) { _ in false }
    case .localThen(let other):
      return try await localAnswer(request, or: other, in: context, access) { _ in true }
    case .staleWhileRevalidate(let maxAge, let other):
      return try await localAnswer(request, or: other, in: context, access) {
        try self.isFresh(request, in: context, maxAge, present: $0.entities) ? nil : true
      }
    }
  }

  private func remoteOrLocalAnswer(
    _ request: EntityRead<E>, in context: ReadContext<E>, _ access: AccessCheck
  ) async throws -> QueryResult<E> {
    do {
      let result = try await remoteAnswer(request, in: context, access)
      if !result.isEmpty || stack.local.isEmpty { return result }
    } catch let failure as any RemoteFailure where failure.remoteFailureKind == .connection {
      if stack.local.isEmpty { throw failure }
      return try await localAnswer(request, in: context).get(after: failure)
    }
    return try await localAnswer(request, in: context).get()
  }

  private func localAnswer(
    _ request: EntityRead<E>, or other: ReadContext<E>.Source, in context: ReadContext<E>,
    _ access: AccessCheck, refreshes: (QueryResult<E>) throws -> Bool?
  ) async throws -> QueryResult<E> {
    let local = await localAnswer(request, in: context)
    // `nil`: a server's answer is recent, so no request is sent.
    let refreshes = try local.result.map(refreshes) ?? false
    guard let refreshes else { return try local.get() }
    let hasEnough = local.result.map(request.isSufficient) ?? false
    guard !hasEnough else {
      if refreshes, access.reachesServer { refresh(request, from: other, in: context, access) }
      return try local.get()
    }
    guard access.reachesServer else { return try local.get() }
    do {
      return try await answer(request, from: other, in: context, access)
    } catch {
      throw local.error.map { Self.composite([$0, error]) } ?? error
    }
  }

  /// Sends a request in the background; its answer is stored and reaches the followers.
  private func refresh(
    _ request: EntityRead<E>, from source: ReadContext<E>.Source, in context: ReadContext<E>,
    _ access: AccessCheck
  ) {
    // One background read of a stale question runs at a time, even if equal requests are not shared.
    var keys: [UInt64] = []
    if case .staleWhileRevalidate(_, let source) = context.source {
      let strategy = UInt64(truncatingIfNeeded: source.remote?.strategy.hashValue ?? 0)
      keys = request.keys(context.endpoint).map { $0 ^ strategy }
      guard answers.ask(keys) else { return }
    }
    background.start { [self, keys] in
      defer { answers.didAsk(keys) }
      do {
        _ = try await answer(request, from: source, in: context, access)
      } catch {
        events?(ManagerEvent(.failedBackgroundRead, E.modelTypeName, error))
      }
    }
  }

  /// Ends a synchronization, and waits for the background reads.
  package func drain() async {
    await changes?.end()
    await background.drain()
  }
}

/// The answers of the local stores of a stack.
struct LevelAnswer<E: Entity>: Sendable {
  /// The best answer; `nil` if no store has answered.
  var result: QueryResult<E>?
  /// The errors of the stores that failed, in order.
  var errors: [any Error] = []
  /// Whether the last store failed; it may have entities that the others lack.
  var lastHasFailed = false

  /// The error to throw instead of the result; `nil` if the result counts.
  var error: (any Error)? {
    guard lastHasFailed, result?.isEmpty ?? true else { return nil }
    return errors.count == 1 ? errors[0] : CoreManager<E>.composite(errors)
  }

  func get() throws -> QueryResult<E> {
    if let error { throw error }
    return result ?? .empty
  }

  /// Returns the result, after a server has failed.
  func get(after failure: any Error) throws -> QueryResult<E> {
    if lastHasFailed, result?.isEmpty ?? true { throw CoreManager<E>.composite([failure] + errors) }
    return result ?? .empty
  }
}

extension CoreManager {
  /// Wraps several errors in one.
  static func composite(_ errors: [any Error]) -> ManagerError {
    let errors = errors.flatMap { error in
      if let error = error as? ManagerError, error.code == .composite { return error.underlying }
      return [error]
    }
    return ManagerError(
      .composite, E.modelTypeName, "none of \(errors.count) stores could answer",
      underlying: errors)
  }

  /// Reads the local stores, from the nearest to the farthest, until one has a sufficient answer.
  private func localAnswer(
    _ request: EntityRead<E>, in context: ReadContext<E>
  ) async -> LevelAnswer<E> {
    var answer = LevelAnswer<E>()
    guard !stack.local.isEmpty else {
      answer.errors = [Self.noStore("local")]
      answer.lastHasFailed = true
      return answer
    }
    await stack.catchUp()
    for store in stack.readable {
      do {
        let result = try await request.answer(of: store, in: context)
        answer.lastHasFailed = false
        guard request.isValid(result, in: context) else {
          if answer.result == nil { answer.result = .empty }
          continue
        }
        if result.count >= answer.result?.count ?? 0 { answer.result = result }
        if request.isSufficient(result) { break }
      } catch {
        answer.errors.append(error)
        answer.lastHasFailed = true
      }
    }
    if answer.error == nil {
      for error in answer.errors { events?(ManagerEvent(.failedStore, E.modelTypeName, error)) }
    }
    return answer
  }

  static func noStore(_ level: String) -> ManagerError {
    ManagerError(
      .noStore, E.modelTypeName,
      "the manager has no \(level) store; use another context, or give the type such a store")
  }
}

extension CoreManager {
  /// Requests an answer from the servers in turn until one answers, and stores it as the context says.
  private func remoteAnswer(
    _ request: EntityRead<E>, in context: ReadContext<E>, _ access: AccessCheck
  ) async throws -> QueryResult<E> {
    try access.requireServer()
    guard !stack.remote.isEmpty else { throw Self.noStore("remote") }
    var errors: [any Error] = []
    for store in stack.remote {
      do {
        return try await remoteAnswer(request, from: store, in: context, access)
      } catch {
        errors.append(error)
      }
    }
    throw errors.count == 1 ? errors[0] : Self.composite(errors)
  }

  private func remoteAnswer(
    _ request: EntityRead<E>, from store: any Storing<E>, in context: ReadContext<E>,
    _ access: AccessCheck
  ) async throws -> QueryResult<E> {
    // The answer gets the sequence number of its request.
    let asOf = try await stack.takeReadPlace()
    let waitingSince = try stack.waitingSince
    let removalCount = answers.removalCount
    var answer: RemoteAnswer<E>
    do {
      answer = try await Self.fetch(request, from: store, in: context)
    } catch let failure as any RemoteFailure
      where failure.remoteFailureKind == .notFound && request.identifiers?.count == 1
    {
      answer = RemoteAnswer(result: .empty, isComplete: true)
      try access.confirm()
      if let identifiers = request.identifiers, case .persist = context.source.remote?.strategy {
        let times = times(of: answer, to: request, in: context)
        try await stack.removeAnswered(identifiers, asOf: asOf) {
          try $0.note(times, of: E.modelTypeName, asOf: asOf)
        }
        if stack.followedStore == nil { answers.note(times, since: removalCount) }
      }
      return answer.result
    }
    for error in answer.malformed {
      events?(ManagerEvent(.malformedElement, E.modelTypeName, error))
    }
    try access.confirm()
    if LocalFields.areIn(E.self) || request.selectsUnique(in: context) {
      answer.result = try await applied(answer, request, in: context)
    }
    if case .persist(let extra) = context.source.remote?.strategy {
      let discards = extra == .discardExtraLocalData && answer.isComplete
      var write = AnswerWrite(
        entities: answer.result.entities, query: request.query, asOf: asOf,
        discardsExtra: discards,
        isInNaturalOrder: request.identifiers == nil && request.query.isInNaturalOrder)
      let times = times(of: answer, to: request, in: context)
      write.waitingSince = waitingSince
      write.included = stack.takesIncluded ? answer.included : []
      if !times.isEmpty {
        write.included.append { try $0.note(times, of: E.modelTypeName, asOf: $1.asOf) }
      }
      try await stack.store(write)
      if stack.followedStore == nil { answers.note(times, since: removalCount) }
    }
    return request.valid(answer.result, in: context)
  }

  /// The result of an answer, with the stored values of fields that the server does not have.
  private func applied(
    _ answer: RemoteAnswer<E>, _ request: EntityRead<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    var entities = answer.unfiltered ?? answer.result.entities
    if LocalFields.areIn(E.self) { entities = try await stack.withLocalFields(entities) }
    var result =
      answer.unfiltered == nil
      ? QueryResult(entities, groupedBy: request.query.groupedBy)
      : try request.answer(from: entities, in: context)
    result.page = answer.result.page
    return result
  }

  private static func fetch(
    _ request: EntityRead<E>, from store: any Storing<E>, in context: ReadContext<E>
  ) async throws -> RemoteAnswer<E> {
    if let store = store as? any RemoteStoring<E> {
      return try await store.fetch(request.query, in: context)
    }
    let result = try await request.answer(of: store, in: context)
    return RemoteAnswer(result: result, isComplete: request.query.isUnbounded)
  }
}

extension Query {
  /// Whether the result is in natural order.
  var isInNaturalOrder: Bool { order.first.map { $0 == .natural } ?? true }
}
