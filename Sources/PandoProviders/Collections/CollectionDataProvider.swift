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
/// It shows the newest data of its elements, whoever changes them, and shares the list itself with
/// all providers of the same cache key. Changes through it show at once, and take their way to the
/// store or the cache behind the scenes. Any thread may use it.
public final class CollectionDataProvider<T: SimpleModel>: Sendable {
  struct State: Sendable {
    var collection: LiveCollection<T>
    /// The number by which the collection knows this provider.
    var member: UInt64
    weak var delegate: (any CollectionDataProviderDelegate)?
    /// Why it stands still, as far as its owner and its batch are concerned.
    var pauseReasons: PauseReasons = []
    weak var batch: BatchCore?
    /// What observers pull from.
    var observed: ObservedState<LiveList<T>>?
    /// What `withObservationTracking` hears of reads and changes from.
    var tracking: ProviderTracking?
    /// Grows with every set and fetch: the answer to an older fetch is ignored.
    var actionCount: UInt64 = 0
  }

  /// What keeps the elements consistent with everything else, and where they live.
  public let dataModelManager: DataModelManager
  /// Set as soon as the provider exists, as its collection refers to it.
  let state: Locked<State?> = Locked(nil)

  /// Makes a provider without elements that belongs to no cache key.
  ///
  /// - Parameter dataModelManager: Shared by all providers that are to be consistent.
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

  /// The elements: what is committed, with all that is on its way on top.
  ///
  /// Never blocks on the disk.
  public var data: [T] {
    trackRead { $0.readData() }
    return seen { $0.data(of: $1) }
  }

  /// How many elements there are.
  public var count: Int {
    trackRead { $0.readData() }
    return seen { $0.count(of: $1) }
  }

  /// The element at a position.
  ///
  /// - Parameter index: 0 to ``count`` - 1.
  /// - Precondition: The position exists; other threads may change the list, so use ``data`` to read
  ///   several elements.
  public subscript(index: Int) -> T { data[index] }

  /// The key under which the elements are stored and shared; `nil` if they are this provider's own.
  public var cacheKey: String? { seat.collection.cacheKey }

  /// When the elements last changed; `nil` if they never did.
  public var lastUpdated: Date? { seen { $0.lastUpdated(of: $1).map { .some($0) } ?? .some(nil) } }

  /// Is told when others have changed the elements; it is not retained.
  public var delegate: (any CollectionDataProviderDelegate)? {
    get { state.withLock { $0?.delegate } }
    set { state.withLock { $0?.delegate = newValue } }
  }
}

extension CollectionDataProvider: CollectionMember {
  /// The collection that the provider shows, and its number there.
  var seat: (collection: LiveCollection<T>, member: UInt64) {
    state.withLock { state in
      guard let state else { preconditionFailure("a provider always has a collection") }
      return (state.collection, state.member)
    }
  }

  /// Begins something after which answers to older fetches are ignored.
  func beginAction() -> UInt64 {
    state.withLock { state in
      state?.actionCount += 1
      return state?.actionCount ?? 0
    }
  }

  /// Whether nothing has begun since.
  func isCurrent(_ action: UInt64) -> Bool { state.withLock { $0?.actionCount == action } }

  /// Asks the collection; again if the provider has gone over to another one meanwhile.
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

  /// Joins a collection that nobody else knows yet.
  static func joinNew(
    _ collection: LiveCollection<T>, _ provider: CollectionDataProvider<T>
  ) -> UInt64 {
    guard let member = collection.join(provider, paused: []) else {
      preconditionFailure("a new collection was retired")
    }
    return member
  }
}
