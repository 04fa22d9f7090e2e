import PandoModels

extension DataModelManager {
  /// True if the data are in a store.
  var isStoreBacked: Bool {
    if case .store = backing { true } else { false }
  }

  /// True if there is neither store nor cache.
  var isMemoryOnly: Bool {
    if case .memory = backing { true } else { false }
  }

  /// True if the data are in a custom cache.
  var isCached: Bool {
    if case .cache = backing { true } else { false }
  }

  /// Returns the live collection of a cache key.
  ///
  /// - Throws: ``DataProviderError`` `typeCollision` if it has elements of another type.
  func livingCollection<T: SimpleModel>(
    forKey cacheKey: String, of type: T.Type
  ) throws(DataProviderError) -> LiveCollection<T>? {
    guard let topic = topics.topic(ByteString(cacheKey)) else { return nil }
    return try Self.collection(topic, cacheKey)
  }

  /// Returns the live collection of a cache key; the first call makes it.
  ///
  /// Without a key, it makes a collection for one provider.
  ///
  /// - Throws: ``DataProviderError`` `typeCollision` if it has elements of another type.
  func collection<T: SimpleModel>(
    forKey cacheKey: String?, of type: T.Type
  ) throws(DataProviderError) -> LiveCollection<T> {
    guard let cacheKey else { return LiveCollection(self, cacheKey: nil) }
    let topic = topics.topic(ByteString(cacheKey)) { LiveCollection<T>(self, cacheKey: cacheKey) }
    return try Self.collection(topic, cacheKey)
  }

  private static func collection<T: SimpleModel>(
    _ topic: any StoreTopic, _ cacheKey: String
  ) throws(DataProviderError) -> LiveCollection<T> {
    if let collection = topic as? LiveCollection<T> { return collection }
    throw DataProviderError.typeCollision(cacheKey, T.self)
  }

  /// Changes a collection without a provider.
  func perform<T: SimpleModel>(
    _ request: ListRequest<T>, _ cacheKey: String, updatesCache: Bool, _ context: (any Sendable)?
  ) -> PendingWrite {
    do {
      while let living = try livingCollection(forKey: cacheKey, of: T.self) {
        guard living.takes(request) else { break }
        let (version, list) = living.version
        let placed = try request.placed { try $0.index(in: list, cacheKey) }
        guard let placed else { return .done }
        let outcome = living.edit(
          placed, by: nil, of: version, updatesCache: updatesCache, context: context)
        if let outcome { return outcome }
      }
    } catch {
      return refuse(error, [cacheKey], context)
    }
    if let refusal = refusal(ofReading: T.self) { return refuse(refusal, [cacheKey], context) }
    if request.models.contains(where: { $0.modelIdentifier?.isEmpty ?? false }) {
      return refuse(DataProviderError.emptyIdentifier(T.self), [cacheKey], context)
    }
    let operation = CollectionOperation(
      request, cacheKey, self, isWritten: updatesCache, context: context)
    perform(operation, updatesCache: updatesCache)
    return operation.outcome
  }
}

extension ListRequest {
  /// True if the request creates a missing collection.
  var creates: Bool {
    switch self {
    case .set, .append: true
    default: false
    }
  }

  /// The inserted or updated models.
  var models: [T] {
    switch self {
    case .set(let models), .insert(let models, _), .append(let models): models
    case .update(let model, _): [model]
    case .placed(_, let models, _): models
    case .removeOne, .remove, .move: []
    }
  }
}

extension DataProviderError {
  static func typeCollision(_ cacheKey: String, _ type: any SimpleModel.Type) -> DataProviderError {
    DataProviderError(
      .typeCollision, cacheKey,
      "the collection has elements of another type than \(type); use another cache key; "
        + "nothing was changed")
  }

  static func noSuchCollection(_ cacheKey: String) -> DataProviderError {
    DataProviderError(
      .noSuchCollection, cacheKey,
      "there is no such collection; set it or append to it first; nothing was changed")
  }
}
