public import FoundationEssentials
public import PandoModels
import PandoSystem

/// A live, ordered list of models.
///
/// ```swift
/// let contacts = CollectionDataProvider<Person>(dataModelManager: manager)
/// try await contacts.fetchDataFromCache(withCacheKey: "contacts")
/// try await contacts.append([Person(id: 8, name: "Grace")]).committed()
/// ```
///
/// It shows the newest data of its elements after each change in the program or the store. All
/// providers of one cache key share the list. An edit through a provider is visible immediately;
/// Pando writes it to the store or cache in the background.
///
/// Use a ``DataProvider`` for a single model. Use a `QueryDataProvider` for entities that a filter
/// selects. Any thread may use it.
public final class CollectionDataProvider<T: SimpleModel>: Sendable {
  /// The state of a provider, guarded by the lock `state`.
  ///
  /// - `collection` and `member` are its seat. `observed` and `tracking` move with it to another seat.
  /// - `pauseReasons` has the reasons for a pause; the paused list is in the collection.
  struct State: Sendable {
    var collection: LiveCollection<T>
    /// The number of this provider in the collection.
    var member: UInt64
    weak var delegate: (any CollectionDataProviderDelegate)?
    /// The reasons for a pause by the owner and the batch.
    var pauseReasons: PauseReasons = []
    weak var batch: BatchCore?
    /// The state from which observers pull.
    var observed: ObservedState<LiveList<T>>?
    /// Reports reads and changes to `withObservationTracking`.
    var tracking: ProviderTracking?
    /// Grows with each set and fetch.
    ///
    /// The answer to an older fetch is ignored.
    var actionCount: UInt64 = 0
  }

  /// The manager that keeps the elements consistent and has their store or cache.
  public let dataModelManager: DataModelManager
  /// Set in the initializer, after the collection has received the provider.
  let state: Locked<State?> = Locked(nil)

  /// Creates a provider without elements and without a cache key.
  ///
  /// - Parameter dataModelManager: The manager, shared by all providers that must be consistent.
  public init(dataModelManager: DataModelManager) {
    self.dataModelManager = dataModelManager
    let collection = LiveCollection<T>(dataModelManager, cacheKey: nil)
    let member = Self.joinNew(collection, self)
    state.withLock { $0 = State(collection: collection, member: member) }
  }

  deinit {
    detachObservers()
    if let state = state.withLock({ $0 }) { state.collection.leave(state.member) }
  }

  /// The elements: the committed ones, with all uncommitted changes on top.
  ///
  /// Never waits for a disk.
  public var data: [T] {
    trackRead { $0.readData() }
    return seen { $0.data(of: $1) }
  }

  /// The count of elements.
  public var count: Int {
    trackRead { $0.readData() }
    return seen { $0.count(of: $1) }
  }

  /// The element at a position.
  ///
  /// - Parameter index: 0 to ``count`` - 1.
  /// - Precondition: The position exists. Other threads may change the list, so use ``data`` to
  ///   read several elements.
  public subscript(index: Int) -> T { data[index] }

  /// The key under which the elements are stored and shared; `nil` if they belong to this provider
  /// only.
  public var cacheKey: String? { seat.collection.cacheKey }

  /// The time of the last change of the elements; `nil` if there was none.
  public var lastUpdated: Date? { seen { $0.lastUpdated(of: $1).map { .some($0) } ?? .some(nil) } }

  /// The delegate that is called after changes by others; not retained.
  public var delegate: (any CollectionDataProviderDelegate)? {
    get { state.withLock { $0?.delegate } }
    set {
      state.withLock { $0?.delegate = newValue }
      if newValue == nil { return }
      let skips = seen { $0.beginTelling($1) }
      if skips { dataHasChanged() }
    }
  }
}

extension CollectionDataProvider: CollectionMember {
  /// The collection that the provider shows, and its member number there.
  var seat: (collection: LiveCollection<T>, member: UInt64) {
    state.withLock { state in
      guard let state else { preconditionFailure("a provider always has a collection") }
      return (state.collection, state.member)
    }
  }

  /// Begins an action, after which answers to older fetches are ignored.
  func beginAction() -> UInt64 {
    state.withLock { state in
      state?.actionCount += 1
      return state?.actionCount ?? 0
    }
  }

  /// Returns true if no later action has begun.
  func isCurrent(_ action: UInt64) -> Bool { state.withLock { $0?.actionCount == action } }

  /// Calls a closure with the collection and the member number.
  ///
  /// The call is repeated with another collection if the closure returns `nil`, because the provider
  /// has left.
  func seen<Result>(_ ask: (LiveCollection<T>, UInt64) -> Result?) -> Result {
    while true {
      let seat = seat
      if let result = ask(seat.collection, seat.member) { return result }
    }
  }

  func tell(_ telling: ListTelling<T>, _ list: [T]) {
    dataHasChanged()
    delegate?.collectionDataProviderHasUpdatedData(
      self, collectionChanges: telling.change.change, data: list, context: telling.context)
  }

  func noteForBatch(_ telling: ListTelling<T>) -> BatchCore? {
    let batch = state.withLock { $0?.batch }
    batch?.note(self, telling.context, telling.date)
    return batch
  }

  /// Joins a new collection that no other thread uses.
  static func joinNew(
    _ collection: LiveCollection<T>, _ provider: CollectionDataProvider<T>
  ) -> UInt64 {
    guard let member = collection.join(provider, paused: []) else {
      preconditionFailure("a new collection was retired")
    }
    return member
  }
}
