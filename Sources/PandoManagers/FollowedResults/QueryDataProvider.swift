public import Observation
public import PandoModels
public import PandoProviders
import PandoSystem

/// A live list of the models that match a query, in its order.
///
/// ```swift
/// let open = Query(filter: \Issue.status == .open, order: [.descending(\.created)], limit: 20)
/// let provider = QueryDataProvider(
///   issues.follow(open), dataModelManager: container.dataModelManager)
/// provider.delegate = self
/// ```
/// A change of a model that matches, or that begins or ceases to match, changes the list; the list itself can't
/// be edited.
/// It shows a commit in the same step as all other providers over the store. In a task iterate the
/// ``FollowedQuery`` instead.
///
/// - Note: Any thread.
public final class QueryDataProvider<E: Queryable>: Sendable {
  private struct State: Sendable {
    weak var delegate: (any QueryDataProviderDelegate)?
    /// The window that is shown during a pause.
    var frozen: QueryWindow<E>?
    var isPaused = false
    /// The delegate's last result; `nil` before its first call.
    var told: QueryResult<E>?
    /// The number of delegates so far; a result passed to an earlier one does not count.
    var delegateCount = 0
    /// The context of the newest change, the number of changes, and the number of those that were published.
    var context: (any Sendable)?
    var changeCount = 0
    var shownCount = 0
    /// The error that has ended the list, and the same until the delegate receives it.
    var error: (any Error)?
    var untoldError: (any Error)?
    /// The position up to which changes were recorded.
    var cursor: ObserverCursor?
  }

  /// The followed query.
  public let query: Query<E>
  /// The manager that calls the delegate.
  public let dataModelManager: DataModelManager
  private let source: FollowedQuery<E>
  /// The access when it began.
  private let access: UserAccess?
  /// The committed state; `nil` if the query can't be followed.
  private let live: LiveQuery<E>?
  private let state = Locked(State())
  private let tracking = ProviderTracking()
  private let following = Locked<Task<Void, Never>?>(nil)

  /// Begins to follow a query.
  ///
  /// - Parameters:
  ///   - query: The result of `follow(_:in:)` of a manager or a store.
  ///   - dataModelManager: The manager that calls the delegate.
  public init(_ query: FollowedQuery<E>, dataModelManager: DataModelManager) {
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
        // `deliver` records the error that ends the loop.
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

  /// The result of the query, with its groups; `nil` until it has been read.
  public var result: QueryResult<E>? {
    tracking.readData()
    return shown
  }

  /// The models, in the order of the query; none until it has been read.
  public var data: [E] { result?.entities ?? [] }

  /// The number of models.
  public var count: Int { result?.count ?? 0 }

  /// The error that has ended the list; `nil` while it is followed.
  ///
  /// The list keeps its last result.
  public var error: (any Error)? {
    tracking.readData()
    return state.withLock { $0.error }
  }

  /// The object that is notified of changes; held weakly.
  ///
  /// A new delegate first receives the present result, as a reset; during a pause, at its end.
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

  /// Whether the list is paused.
  ///
  /// At the end of a pause it shows the newest result. The delegate receives one joined change, if the result
  /// differs from the one that it has.
  public var isPaused: Bool {
    get {
      tracking.readIsPaused()
      return state.withLock { $0.isPaused }
    }
    set {
      let hasChanged = state.withLock { state in
        guard state.isPaused != newValue else { return false }
        state.isPaused = newValue
        // Under the lock, so that no reader has seen a newer result.
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

  /// Records the committed changes and queues their notifications.
  private func deliver() {
    note()
    show()
  }

  /// Records a newer result, or the error.
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

  /// Queues the notifications of recorded changes, to trackers of reads and to the delegate.
  ///
  /// - Parameter always: Whether to notify without a recorded change.
  private func show(always: Bool = false) {
    dataModelManager.deliver { [weak self] in
      guard let self else { return }
      let (isNewer, error) = state.withLock { state in
        defer { state.shownCount = state.changeCount }
        return (state.shownCount < state.changeCount, exchange(&state.untoldError, with: nil))
      }
      // A tracker that read between two changes may show an old value, even if the delegate has no change.
      if isNewer || always || error != nil { tracking.changedData() }
      if isNewer || always { tell() }
      if let error { delegate?.queryDataProvider(self, hasFailed: error) }
    }
  }

  /// Notifies the delegate of the change since its last call; runs where the manager delivers.
  private func tell() {
    let before = state.withLock { $0 }
    // Only after the first change was recorded, so that its context is not lost.
    guard before.changeCount > 0, !before.isPaused, before.delegate != nil,
      let window = live?.observed.contents
    else { return }
    // Outside the lock, because it calls code of users.
    let result = source.result(of: window, for: access)
    if before.told == result { return }
    let isCurrent = state.withLock { state in
      guard !state.isPaused, state.delegateCount == before.delegateCount else { return false }
      state.told = result
      if state.changeCount == before.changeCount { state.context = nil }
      return true
    }
    // A pause or another delegate has its own notification.
    guard isCurrent else { return }
    let change = before.told.map { result.change(since: $0) }
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

/// `withObservationTracking` tracks reads of `data`, `result`, `count`, `error` and `isPaused`.
extension QueryDataProvider: Observable {}

/// The delegate of a ``QueryDataProvider``.
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
/// The provider's `DataModelManager` calls it where it delivers, one call after another: on the main thread
/// only if it delivers there.
public protocol QueryDataProviderDelegate: AnyObject, Sendable {
  /// Called with the first result, and after each change.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider. Its own result may be newer than this change.
  ///   - collectionChanges: The change from the result of the last call to `result`; `reset` at first.
  ///   - result: The result after the change: the models, with their groups.
  ///   - context: The context of the newest write in the change.
  func queryDataProviderHasUpdatedData<E>(
    _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
    result: QueryResult<E>, context: (any Sendable)?)

  /// Called when the query can't be followed any more, for example because the store was closed.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider; it keeps its last result.
  ///   - error: The error.
  func queryDataProvider<E>(_ dataProvider: QueryDataProvider<E>, hasFailed error: any Error)
}

extension QueryDataProviderDelegate {
  /// Does nothing.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider.
  ///   - error: The error.
  public func queryDataProvider<E>(
    _ dataProvider: QueryDataProvider<E>, hasFailed error: any Error
  ) {}

  /// The former method, without the result.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider.
  ///   - collectionChanges: The change.
  ///   - context: The context of the newest write in the change.
  @available(
    *, unavailable,
    renamed: "queryDataProviderHasUpdatedData(_:collectionChanges:result:context:)"
  )
  public func queryDataProviderHasUpdatedData<E>(
    _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
    context: (any Sendable)?
  ) {}
}
