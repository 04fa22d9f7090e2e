import PandoModels
import PandoSystem

/// Requests the changes of a type page by page; used by one task.
final class SynchronizationRun<E: Entity> {
  private let manager: CoreManager<E>
  private let feed: ChangesFeed<E>
  private let access: AccessCheck
  private(set) var done = SynchronizationResult<E>()
  /// Whether the run has seen a state; if there is none later, all local data was removed.
  private var hasBegun = false
  /// A page that the run has passed, how many pages ago, and after how many pages the next one is marked:
  /// pages that form a circle pass the marked one again (Brent 1980).
  private var mark: (page: String?, age: Int, span: Int) = (nil, 0, 1)

  init(_ manager: CoreManager<E>, _ feed: ChangesFeed<E>, _ access: AccessCheck) {
    self.manager = manager
    self.feed = feed
    self.access = access
  }

  private var stack: StoreStack<E> { manager.stack }

  func run() async throws {
    do {
      try await inStep { try await self.settle() }
      var isDone = false
      while !isDone {
        try Task.checkCancellation()
        try await inStep { isDone = try await self.takePage() }
      }
    } catch {
      // Removed data is the cause of any other error.
      if hasBegun, (try? feed.ledger.state() == nil) == true { throw Self.removed }
      throw error
    }
  }

  /// Runs one step; if another writer has moved the state, the next step continues from there.
  private func inStep(_ step: () async throws -> Void) async throws {
    do {
      try await step()
    } catch is SyncMoved {
      mark = (nil, 0, 1)
      if try feed.ledger.state() == nil { throw Self.removed }
    }
  }

  /// Throws if the next page is one that the run has passed.
  private func follow(_ page: RemoteChanges<E>) throws {
    let next = (page.isLink ? "at " : "since ") + page.cursor
    if next == mark.page { throw page.leadsBack }
    mark.age += 1
    guard mark.page == nil || mark.age == mark.span else { return }
    mark = (next, 0, 2 * mark.span)
  }

  private static var removed: ManagerError {
    ManagerError(.aborted, E.modelTypeName, "all local data was removed meanwhile")
  }

  /// Begins to request everything.
  private func begin(
    from state: SyncState?, _ kind: SynchronizationResult<E>.Kind
  ) async throws -> SyncState {
    // The stores keep tombstones from this number on.
    let place = try await stack.takeReadPlace()
    let all = try await feed.ledger.begin(from: state, at: place)
    done.kind = kind
    mark = (nil, 0, 1)
    return all
  }

  /// Requests entities that earlier pages named and that could not be stored or removed then.
  private func settle() async throws {
    guard let state = try feed.ledger.state() else { return }
    hasBegun = true
    let pending = state.pending.compactMap { EntityIdentifier<E>(modelIdentifier: $0) }
    let unnamed = try feed.ledger.current(
      state.unnamed.compactMap { EntityIdentifier<E>(modelIdentifier: $0) })
    let identifiers = (pending + unnamed).unique.filter { !$0.isLocal }
    if identifiers.isEmpty { return }
    let asOf = try await stack.takeReadPlace()
    let waitingSince = try stack.waitingSince
    guard let answer = try await feed.server.fetchCurrent(identifiers) else {
      _ = try await begin(from: state, .full)
      return
    }
    var after = state
    after.pending = []
    after.unnamed = unnamed.filter(\.isLocal).map(\.modelIdentifier)
    let found = Set(answer.result.entities.map(\.id))
    func missing(_ asked: [EntityIdentifier<E>]) -> [EntityIdentifier<E>] {
      answer.malformed.isEmpty ? asked.filter { !found.contains($0) } : []
    }
    var changes = ChangesWrite(
      removed: missing(pending), knownAt: try await stack.takeReadPlace(), ledger: feed.ledger,
      before: state, after: after)
    changes.unnamed = missing(
      unnamed.filter { !$0.isLocal && !pending.contains($0) })
    try await store(answer, changes, AnswerPlace(asOf: asOf, waitingSince: waitingSince))
  }

  /// Requests a page and stores it.
  ///
  /// - Returns: Whether it was the last one.
  private func takePage() async throws -> Bool {
    var state = try feed.ledger.state()
    if state == nil, hasBegun { throw Self.removed }
    if state == nil || state?.cursor == nil && state?.fullPlace == nil {
      state = try await begin(from: state, .full)
    }
    hasBegun = true
    guard let state else { return false }
    if state.fullPlace != nil, done.kind == .incremental { done.kind = .full }
    let asOf = try await stack.takeReadPlace()
    let place = AnswerPlace(asOf: asOf, waitingSince: try stack.waitingSince)
    let page: RemoteChanges<E>
    do {
      page = try await feed.server.fetchChanges(since: state.cursor, isLink: state.isLink)
      if page.hasMore { try follow(page) }
    } catch let expired as ExpiredCursor {
      guard done.kind != .expired else { throw expired.answer }
      _ = try await begin(from: state, .expired)
      return false
    }
    if state.fullPlace != nil, let error = page.absence { throw error }
    var after = state
    (after.cursor, after.isLink) = (page.cursor, page.isLink)
    // An element that can't be read may be any entity, so none counts as missing.
    if !page.answer.malformed.isEmpty, after.fullPlace != nil { after.fullPlace = 0 }
    var changes = ChangesWrite(
      removed: page.removed, knownAt: try await stack.takeReadPlace(), ledger: feed.ledger,
      before: state, after: after)
    if after.fullPlace != nil, after.namedPlace == nil {
      changes.after.namedPlace = changes.knownAt
    }
    if !page.hasMore {
      changes.namedPlace = changes.after.namedPlace ?? 0
      changes.after.namedPlace = nil
      if let place = after.fullPlace, place > 0 { changes.extraPlace = place }
      changes.after.fullPlace = nil
    }
    try await store(page.answer, changes, place)
    done.pageCount += 1
    done.cursor = page.cursor
    return !page.hasMore
  }

  private func store(
    _ answer: RemoteAnswer<E>, _ changes: ChangesWrite<E>, _ place: AnswerPlace
  ) async throws {
    try access.confirm()
    try Task.checkCancellation()
    for error in answer.malformed {
      manager.events?(ManagerEvent(.malformedElement, E.modelTypeName, error))
    }
    // Of an entity that occurs twice, the last value counts.
    var seen: Set<EntityIdentifier<E>> = []
    let entities = answer.result.entities.reversed().filter { seen.insert($0.id).inserted }
    var write = AnswerWrite(
      entities: entities.reversed(), query: .all, asOf: place.asOf, discardsExtra: false,
      isInNaturalOrder: false)
    write.waitingSince = place.waitingSince
    write.included = stack.takesIncluded ? answer.included : []
    write.changes = changes
    let applied = try await stack.store(write)
    done.storedCount += applied.write.entities.count { !$0.isLate }
    done.removedCount += applied.removed.count
    for refusal in applied.refused {
      manager.events?(ManagerEvent(.restrictedRemoval, E.modelTypeName, refusal.error))
      if let identifier = EntityIdentifier<E>(modelIdentifier: refusal.identifier) {
        done.restricted.append(identifier)
      }
    }
  }
}
