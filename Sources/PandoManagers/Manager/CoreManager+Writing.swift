import PandoModels
import PandoStore
import PandoSystem

extension CoreManager {
  /// Writes entities to the stores of a context.
  func write(
    _ entities: [E], in context: WriteContext<E>
  ) async throws -> Written<[AppliedEntity<E>]> {
    let access = try AccessCheck(context.accessValidator, E.self)
    switch context.target {
    case .local:
      return Written(try await stack.write(entities, in: context).entities, .stored)
    case .remote:
      try access.requireServer()
      let store = try remoteStore()
      guard let queue = store as? any RemoteStoring<E> else {
        let asOf = try await stack.takeReadPlace()
        return Written(
          try await confirm(entities, by: store, asOf: asOf, in: context, access), .confirmed)
      }
      let request = try queue.request(toSet: entities, in: context)
      let asOf = try await stack.takePlace { try await request.enqueue() }
      request.committed()
      let confirmation = confirmation(of: request, entities, asOf: asOf)
      guard try await request.firstOutcome() != nil else {
        return Written(Self.applied(entities), .queued, confirmation: confirmation)
      }
      return Written(try await confirmation(), .confirmed)
    case .localAndRemote:
      try access.requireServer()
      let store = try remoteStore()
      guard let queue = store as? any RemoteStoring<E> else {
        let written = try await stack.write(entities, in: context)
        return Written(
          try await confirm(entities, by: store, asOf: written.place, in: context, access),
          .confirmed)
      }
      let request = try queue.request(toSet: entities, in: context)
      let written = try await stack.inStep {
        let written = try await stack.write(
          entities,
          in: withQueueing(request, context) { try queue.replaced(bySetting: $0, in: &$1) })
        if !stack.runsSteps { try await request.enqueue() }
        return written
      }
      request.committed()
      return Written(
        written.entities, .queued,
        confirmation: confirmation(of: request, entities, asOf: written.place))
    }
  }

  /// Changes the stored entity; the server, if the context names it, gets the result.
  func modify(
    _ identifier: EntityIdentifier<E>, replacing replacement: (new: E, old: E)? = nil,
    in context: WriteContext<E>, _ change: @escaping @Sendable (inout E) throws -> Void
  ) async throws -> Written<E>? {
    try identifier.validate()
    let access = try AccessCheck(context.accessValidator, E.self)
    let update = EntityUpdate(identifier, replacing: replacement, change)
    switch context.target {
    case .local:
      let written = try await stack.write(update, in: context)
      return written.stored.first.map { Written($0, .stored) }
    case .remote:
      try access.requireServer()
      guard var entity = try await get(byID: identifier) else { return nil }
      try update.change(&entity)
      return try await set(entity, in: context)
    case .localAndRemote:
      try access.requireServer()
      let store = try remoteStore()
      guard let queue = store as? any RemoteStoring<E> else {
        let written = try await stack.write(update, in: context)
        guard let stored = written.stored.first else { return nil }
        let answer = try await confirm(
          [stored], by: store, asOf: written.place, in: context, access)
        return Written(try Self.single(answer, of: stored), .confirmed)
      }
      // The transaction makes the request, with the value that it has stored, and queues it. A queue in another
      // store gets it afterwards.
      let queued = Locked<(any QueuedWrite<E>)?>(nil)
      let replaced = Locked<(any Sendable)?>(nil)
      let endpoint = context.endpoint ?? .derived
      var context = context
      if stack.runsSteps {
        context.firstStep = { entities, transaction in
          let found = try queue.replaced(bySetting: entities, in: &transaction)
          replaced.withLock { $0 = found }
        }
      }
      let queueing = EntityUpdate(identifier, replacing: replacement, change) {
        stored, transaction in
        let request = try queue.request(toSet: [stored], in: .localAndRemote(endpoint: endpoint))
        try request.enqueue(&transaction, replacing: replaced.withLock { $0 })
        queued.withLock { $0 = request }
      }
      let written = try await stack.inStep {
        let written = try await stack.write(stack.runsSteps ? queueing : update, in: context)
        if let stored = written.stored.first, queued.withLock({ $0 == nil }) {
          let request = try queue.request(toSet: [stored], in: context)
          try await request.enqueue()
          queued.withLock { $0 = request }
        }
        return written
      }
      guard let stored = written.stored.first, let request = queued.withLock({ $0 }) else {
        return nil
      }
      request.committed()
      return try Written(
        written.entities, .queued,
        confirmation: confirmation(of: request, [stored], asOf: written.place)
      ).map { try Self.single($0, of: stored) }
    }
  }

  /// Returns a closure that waits for the answer to a queued request.
  ///
  /// The queue writes an answer to a disk store itself, in the transaction that removes the request. For
  /// other stores a task writes it, even if no caller waits.
  private func confirmation(
    of request: any QueuedWrite<E>, _ sent: [E], asOf: UInt64
  ) -> @Sendable () async throws -> [AppliedEntity<E>] {
    if stack.runsSteps { return { Self.applied(try await request.answer()) } }
    let answered = { @Sendable in
      let answer = try await request.answer()
      // Without an answer the server has what was sent.
      return answer.isEmpty ? sent : LocalFields.restored(answer, ofSent: sent)
    }
    if stack.local.isEmpty { return { Self.applied(try await answered()) } }
    let naming = stack.remote.first as? any NamingStore<E>
    let answer = Task { [stack] in
      var answer = try await answered()
      var context = WriteContext<E>.answer(asOf: asOf)
      for identifier in sent.map(\.id) where identifier.isLocal {
        let name = try naming?.currentIdentifier(of: identifier) ?? identifier
        if name != identifier { context.names[identifier] = name }
      }
      answer = answer.map { $0.named(context.names) }
      if let naming, stack.followedStore != nil, !context.names.isEmpty {
        let names = context.names
        context.firstStep = { _, transaction in
          for (old, new) in names { try naming.rename(old, to: new, in: &transaction) }
        }
      }
      return try await stack.write(answer, in: context).entities
    }
    return { try await answer.value }
  }

  /// Sends entities to a server without a queue, and stores its answer.
  private func confirm(
    _ entities: [E], by store: any Storing<E>, asOf: UInt64, in context: WriteContext<E>,
    _ access: AccessCheck
  ) async throws -> [AppliedEntity<E>] {
    let answer = try await store.set(entities, in: context)
    try access.confirm()
    guard !stack.local.isEmpty else { return Self.applied(answer) }
    return try await stack.write(answer, in: .answer(asOf: asOf)).entities
  }

  private static func applied(_ entities: [E]) -> [AppliedEntity<E>] {
    entities.map { AppliedEntity($0.id, stored: $0, isLate: false) }
  }

  /// A context whose local write queues a request in its transaction, if the stores run steps.
  private func withQueueing(
    _ request: any QueuedWrite<E>, _ context: WriteContext<E>,
    _ replacedBy: @escaping @Sendable ([E], inout ModelTransaction) throws -> (any Sendable)?
  ) -> WriteContext<E> {
    guard stack.runsSteps else { return context }
    let replaced = Locked<(any Sendable)?>(nil)
    var context = context.with { transaction in
      try request.enqueue(&transaction, replacing: replaced.withLock { $0 })
    }
    context.firstStep = { entities, transaction in
      let found = try replacedBy(entities, &transaction)
      replaced.withLock { $0 = found }
    }
    return context
  }

  private func remoteStore() throws -> any Storing<E> {
    guard let store = stack.remote.first else { throw Self.noStore("remote") }
    return store
  }
}

extension CoreManager {
  /// Removes entities from the stores of a context.
  func erase(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws -> Written<Void> {
    for identifier in identifiers { try identifier.validate() }
    let access = try AccessCheck(context.accessValidator, E.self)
    switch context.target {
    case .local:
      try await stack.remove(identifiers, in: context)
      return Written((), .stored)
    case .remote:
      try access.requireServer()
      let store = try remoteStore()
      guard let queue = store as? any RemoteStoring<E> else {
        let asOf = try await stack.takeReadPlace()
        try await store.remove(identifiers, in: context)
        try access.confirm()
        try await stack.removeAnswered(identifiers, asOf: asOf)
        return Written((), .confirmed)
      }
      let request = try queue.request(toRemove: identifiers, in: context)
      let asOf = try await stack.takePlace { try await request.enqueue() }
      request.committed()
      // The queue removes entities from a disk store only.
      let removal =
        stack.runsSteps
        ? nil
        : Task { [stack] in
          _ = try await request.answer()
          try await stack.removeAnswered(identifiers, asOf: asOf)
        }
      guard try await request.firstOutcome() != nil else {
        return Written((), .queued) {
          _ = try await request.answer()
          try await removal?.value
        }
      }
      try await removal?.value
      return Written((), .confirmed)
    case .localAndRemote:
      try access.requireServer()
      let store = try remoteStore()
      guard let queue = store as? any RemoteStoring<E> else {
        try await stack.remove(identifiers, in: context)
        try await store.remove(identifiers, in: context)
        return Written((), .confirmed)
      }
      let request = try queue.request(toRemove: identifiers, in: context)
      try await stack.inStep {
        try await stack.remove(
          identifiers,
          in: withQueueing(request, context) { _, transaction in
            try queue.replaced(byRemoving: identifiers, in: &transaction)
          })
        if !stack.runsSteps { try await request.enqueue() }
      }
      request.committed()
      return Written((), .queued) { _ = try await request.answer() }
    }
  }

  /// Removes the entities that match a query from the stores of a context.
  func eraseAll(
    _ query: Query<E>, in context: WriteContext<E>
  ) async throws -> Written<[EntityIdentifier<E>]> {
    try query.validate()
    let access = try AccessCheck(context.accessValidator, E.self)
    switch context.target {
    case .local:
      return Written(try await stack.removeAll(query, in: context), .stored)
    case .remote:
      try access.requireServer()
      let store = try remoteStore()
      let asOf = try await stack.takeReadPlace()
      let identifiers = try await store.removeAll(withQuery: query, in: context)
      try access.confirm()
      try await stack.removeAnswered(identifiers, asOf: asOf)
      return Written(identifiers, .confirmed)
    case .localAndRemote:
      let found = try await search(withQuery: query, in: .local).entities.map(\.id)
      guard !found.isEmpty else { return Written([], .confirmed) }
      let removal = try await erase(found, in: context)
      return Written(found, removal.state) {
        try await removal.confirmed()
        return found
      }
    }
  }
}
