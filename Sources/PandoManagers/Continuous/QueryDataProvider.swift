public import Observation
public import PandoModels
public import PandoProviders
import PandoSystem

/// A live list of what a query finds: filtered and ordered as it says, after every change.
///
/// ```swift
/// let open = Query(filter: \Issue.status == .open, order: [.descending(\.created)], limit: 20)
/// let provider = QueryDataProvider(
///   issues.continuousSearch(withQuery: open), dataModelManager: container.dataModelManager)
/// provider.delegate = self
/// ```
/// Whoever changes a model that comes to match, or no longer does, changes the list; the list itself
/// can't be edited. It shows a commit in the same step as all other providers over the store.
///
/// - Note: Any thread.
public final class QueryDataProvider<E: Queryable>: Sendable {
  private struct State: Sendable {
    weak var delegate: (any QueryDataProviderDelegate)?
    /// What is shown while it stands still.
    var frozen: QueryWindow<E>?
    var isPaused = false
    /// What the delegate knows; `nil` until it has been told the first result.
    var told: QueryResult<E>?
    /// How many delegates there were: what was told to another one does not count.
    var delegateCount = 0
    /// The context of the newest change, the number of changes, and how many of them everybody was told.
    var context: (any Sendable)?
    var changeCount = 0
    var shownCount = 0
    /// Why there will be none any more, and the same until it is told.
    var error: (any Error)?
    var untoldError: (any Error)?
    /// How far it has noted what is committed.
    var cursor: ObserverCursor?
  }

  /// What is followed.
  public let query: Query<E>
  /// Where delegates are called.
  public let dataModelManager: DataModelManager
  private let source: ContinuousQuery<E>
  /// Whose access it began with.
  private let access: UserAccess?
  /// What is committed; `nil` if it can't be followed at all.
  private let live: LiveQuery<E>?
  private let state = Locked(State())
  private let tracking = ProviderTracking()
  private let following = Locked<Task<Void, Never>?>(nil)

  /// Begins to follow a query.
  ///
  /// - Parameters:
  ///   - query: What a manager's `continuousSearch(withQuery:in:)` returned, or a store's.
  ///   - dataModelManager: Says where the delegate is called.
  public init(_ query: ContinuousQuery<E>, dataModelManager: DataModelManager) {
    self.query = query.query
    self.dataModelManager = dataModelManager
    source = query
    access = query.source.access
    do {
      let (live, cursor) = try query.source.join()
      self.live = live
      state.withLock { $0.cursor = cursor }
      let task = Task { [weak self] in
        var cursor = cursor
        // The error is noted, too.
        while (try? await live.observed.next(&cursor, isolation: nil)) != nil { self?.deliver() }
        self?.deliver()
      }
      following.withLock { $0 = task }
      dataModelManager.observed.insert(self)
    } catch {
      live = nil
      state.withLock { ($0.error, $0.untoldError) = (error, error) }
      show()
    }
  }

  deinit {
    following.withLock { $0 }?.cancel()
    dataModelManager.observed.remove(self)
  }

  /// What the query finds, with its groups; `nil` until it has been read.
  public var result: QueryResult<E>? {
    tracking.readData()
    return shown
  }

  /// The models, in the order of the query; none until it has been read.
  public var data: [E] { result?.entities ?? [] }

  /// How many models are shown.
  public var count: Int { data.count }

  /// Why it can't be followed any more; `nil` while all is well.
  ///
  /// What was shown last stays.
  public var error: (any Error)? {
    tracking.readData()
    return state.withLock { $0.error }
  }

  /// Is told of changes; not retained.
  ///
  /// A new one is told the present result first, as a reset.
  public var delegate: (any QueryDataProviderDelegate)? {
    get { state.withLock { $0.delegate } }
    set {
      let error = state.withLock { state in
        state.delegate = newValue
        state.told = nil
        state.delegateCount += 1
        return state.error
      }
      guard newValue != nil else { return }
      dataModelManager.deliver { [weak self] in
        guard let self else { return }
        tell()
        if let error { delegate?.queryDataProvider(self, hasFailed: error) }
      }
    }
  }

  /// Whether it stands still.
  ///
  /// At the end it shows the newest result, and the delegate is told once what has changed.
  public var isPaused: Bool {
    get {
      tracking.readIsPaused()
      return state.withLock { $0.isPaused }
    }
    set {
      let hasChanged = state.withLock { state in
        guard state.isPaused != newValue else { return false }
        state.isPaused = newValue
        // Read under the lock: nobody has seen anything newer.
        state.frozen = newValue ? live?.observed.contents : nil
        return true
      }
      guard hasChanged else { return }
      tracking.changedIsPaused()
      if !newValue { show(always: true) }
    }
  }

  private var shown: QueryResult<E>? {
    state.withLock { $0.isPaused ? $0.frozen : live?.observed.contents }
      .map { source.result(of: $0, for: access) }
  }

  /// Takes in what is committed now, and queues what has to be told of it.
  private func deliver() {
    note()
    show()
  }

  /// Takes in that there is a newer result, or none any more.
  private func note() {
    state.withLock { state in
      guard let live, var cursor = state.cursor else { return }
      do {
        if let news = try live.observed.newest(&cursor) {
          state.context = news.context
          state.changeCount += 1
        }
      } catch {
        (state.error, state.untoldError) = (error, error)
      }
      state.cursor = cursor
    }
  }

  /// Has those told who track reads, and the delegate, of what was noted and is not told.
  ///
  /// - Parameter always: Whether there may be something to tell though nothing was noted.
  private func show(always: Bool = false) {
    dataModelManager.deliver { [weak self] in
      guard let self else { return }
      let (isNewer, error) = state.withLock { state in
        defer { state.shownCount = state.changeCount }
        return (state.shownCount < state.changeCount, exchange(&state.untoldError, with: nil))
      }
      // Whoever has read something between two changes may show what is no longer there, though the
      // delegate has nothing to hear.
      if isNewer || always || error != nil { tracking.changedData() }
      if isNewer || always { tell() }
      if let error { delegate?.queryDataProvider(self, hasFailed: error) }
    }
  }

  /// Tells what has changed since it was told last; where delegates are called, so one after another.
  private func tell() {
    let before = state.withLock { $0 }
    // Not before the first result has come this way: of the change behind it the context would be lost.
    guard before.changeCount > 0, !before.isPaused, before.delegate != nil,
      let window = live?.observed.contents
    else { return }
    // Outside the lock: it calls code of users.
    let result = source.result(of: window, for: access)
    if before.told == result { return }
    let isCurrent = state.withLock { state in
      guard !state.isPaused, state.delegateCount == before.delegateCount else { return false }
      state.told = result
      if state.changeCount == before.changeCount { state.context = nil }
      return true
    }
    // Who has paused it or set another delegate meanwhile has that told.
    guard isCurrent else { return }
    let change = before.told.map {
      CollectionChange.difference(from: $0.entities, to: result.entities)
    }
    before.delegate?.queryDataProviderHasUpdatedData(
      self, collectionChanges: change ?? .reset, result: result,
      context: before.told == nil ? nil : before.context)
  }
}

extension QueryDataProvider: ObservedHolder {
  package func shows(_ key: ByteString, as type: (any SimpleModel.Type)?) -> Bool { false }

  package func endObservations(_ error: (any Error)?) {}

  package func catchUp() async {
    await source.source.shown()
    deliver()
  }
}

/// Reads of `data`, `result`, `count`, `error` and `isPaused` are seen by `withObservationTracking`.
extension QueryDataProvider: Observable {}

/// Is told when what a ``QueryDataProvider`` shows has changed.
///
/// ```swift
/// func queryDataProviderHasUpdatedData<E>(
///   _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
///   result: QueryResult<E>, context: (any Sendable)?
/// ) {
///   rows = rows.applying(collectionChanges, from: result.entities) { Row($0) }
/// }
/// ```
///
/// Called where the provider's `DataModelManager` delivers, one call after another: on the main thread only if
/// it delivers there.
public protocol QueryDataProviderDelegate: AnyObject, Sendable {
  /// Called with the first result, and after each change.
  ///
  /// Calls come one after another where the manager delivers.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider. Its own result may be newer than this change.
  ///   - collectionChanges: What leads from the result of the call before to `result`; `reset` in the first one.
  ///   - result: What the change leads to: the models, with their groups.
  ///   - context: What the writer of the newest change passed along.
  func queryDataProviderHasUpdatedData<E>(
    _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
    result: QueryResult<E>, context: (any Sendable)?)

  /// Called when the query can't be followed any more: the store was closed, a server refused.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider; it goes on showing what it has shown.
  ///   - error: Why.
  func queryDataProvider<E>(_ dataProvider: QueryDataProvider<E>, hasFailed error: any Error)
}

extension QueryDataProviderDelegate {
  /// Does nothing.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider.
  ///   - error: Why.
  public func queryDataProvider<E>(
    _ dataProvider: QueryDataProvider<E>, hasFailed error: any Error
  ) {}

  /// The former call, without the result that a change leads to.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider.
  ///   - collectionChanges: What happened.
  ///   - context: What the writer of the newest change passed along.
  @available(
    *, unavailable,
    renamed: "queryDataProviderHasUpdatedData(_:collectionChanges:result:context:)"
  )
  public func queryDataProviderHasUpdatedData<E>(
    _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
    context: (any Sendable)?
  ) {}
}
