public import Observation
import PandoSystem
public import PandoModels
public import PandoProviders

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
    var frozen: QueryResult<E>?
    var isPaused = false
    /// What the delegate knows; `nil` until the first result.
    var told: QueryResult<E>?
    /// What the writer of the newest change passed along.
    var context: (any Sendable)?
    var error: (any Error)?
  }

  /// What is followed.
  public let query: Query<E>
  /// Where delegates are called.
  public let dataModelManager: DataModelManager
  /// What is shown; `nil` if it can't be followed at all.
  private let present: (@Sendable () -> QueryResult<E>?)?
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
    do {
      let (live, cursor) = try query.source.join()
      let access = query.source.access
      present = {
        guard let window = live.observed.contents else { return nil }
        return query.result(of: window, for: access)
      }
      let task = Task { [weak self] in
        var cursor = cursor
        do {
          while let news = try await live.observed.next(&cursor, isolation: nil) {
            self?.note(news.context)
          }
        } catch {
          self?.fail(error)
        }
      }
      following.withLock { $0 = task }
    } catch {
      present = nil
      fail(error)
    }
  }

  deinit { following.withLock { $0 }?.cancel() }

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
  public var delegate: (any QueryDataProviderDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
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
      let present = newValue ? present?() : nil
      let hasChanged = state.withLock { state in
        guard state.isPaused != newValue else { return false }
        state.isPaused = newValue
        state.frozen = present
        return true
      }
      guard hasChanged else { return }
      tracking.changedIsPaused()
      if !newValue { dataModelManager.deliver { self.tell() } }
    }
  }

  private var shown: QueryResult<E>? {
    let (isPaused, frozen) = state.withLock { ($0.isPaused, $0.frozen) }
    return isPaused ? frozen : present?()
  }

  /// Takes in that there is a newer result.
  private func note(_ context: (any Sendable)?) {
    state.withLock { $0.context = context }
    dataModelManager.deliver { [weak self] in self?.tell() }
  }

  /// Takes in that there will be none any more.
  private func fail(_ error: any Error) {
    state.withLock { $0.error = error }
    dataModelManager.deliver { [weak self] in
      guard let self else { return }
      tracking.changedData()
      delegate?.queryDataProvider(self, hasFailed: error)
    }
  }

  /// Tells what has changed since it was told last; where delegates are called, so one after another.
  private func tell() {
    // Read outside the lock: it calls key paths of users.
    guard let result = present?() else { return }
    let step = state.withLock { state -> (QueryResult<E>?, (any Sendable)?)? in
      guard !state.isPaused, state.told != result else { return nil }
      defer { state.told = result }
      return (state.told, exchange(&state.context, with: nil))
    }
    guard let (told, context) = step else { return }
    let change = told.map {
      CollectionChange.difference(from: $0.entities, to: result.entities)
    }
    tracking.changedData()
    delegate?.queryDataProviderHasUpdatedData(
      self, collectionChanges: change ?? .reset, context: context)
  }
}

/// Reads of `data`, `result`, `count`, `error` and `isPaused` are seen by `withObservationTracking`.
extension QueryDataProvider: Observable {}

/// Is told when what a ``QueryDataProvider`` shows has changed.
public protocol QueryDataProviderDelegate: AnyObject, Sendable {
  /// Called after the first result, and after each change.
  ///
  /// Calls come one after another where the manager delivers.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider. Its data may be newer than this change.
  ///   - collectionChanges: What happened since the call before; `reset` in the first one. All changes,
  ///     applied one after another, give its data.
  ///   - context: What the writer of the newest change passed along.
  func queryDataProviderHasUpdatedData<E>(
    _ dataProvider: QueryDataProvider<E>, collectionChanges: CollectionChange,
    context: (any Sendable)?)

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
}
