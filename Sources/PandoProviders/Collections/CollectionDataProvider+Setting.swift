import PandoConsistency
import PandoModels
import PandoSystem

extension CollectionDataProvider {
  /// Sets all elements, and the cache key they are stored and shared under.
  ///
  /// They show at once, here and in all providers of the cache key, and are written under the key,
  /// once.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key; `nil` keeps the elements to this provider and out of the cache.
  ///   - updateCache: Whether they are written to the store or the cache.
  ///   - context: Travels to everyone who is told.
  /// - Returns: What it did to the list, and when it is committed; refused if the key's elements have
  ///   another type.
  @discardableResult
  public func setData(
    _ models: [T], cacheKey: String?, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    _ = beginAction()
    defer { dataHasChanged() }
    while true {
      let seat = seat
      if Self.isSame(seat.collection.cacheKey, cacheKey) {
        let outcome = seat.collection.edit(
          .set(models), by: seat.member, updatesCache: updateCache, context: context)
        if let outcome { return outcome }
        continue
      }
      do throws(DataProviderError) {
        let target = try dataModelManager.collection(forKey: cacheKey, of: T.self)
        let joined = target.join(
          self, paused: pauseReasons, setting: models, updatesCache: updateCache, context: context)
        guard let joined else { continue }
        if let member = joined.member { move(to: target, member) }
        return joined.outcome
      } catch {
        return dataModelManager.refuse(error, cacheKey.map { [$0] } ?? [], context)
      }
    }
  }

  /// Whether the elements stand still: changes by others neither show nor are told.
  ///
  /// Changes through this provider show all the same. Once it is `false` again the newest elements
  /// show at once, and the delegate is told once of all that is different, if anything is, behind
  /// what is queued.
  public var isPaused: Bool {
    get {
      trackRead { $0.readIsPaused() }
      return seen { $0.isPaused($1) }
    }
    set {
      if newValue {
        pause(.owner)
      } else if let seat = beginResume(.owner) {
        dataModelManager.consistencyManager.enqueue { scope in
          guard let resumed = seat.collection.endPause(of: seat.member) else { return }
          scope.publish([resumed.change], resumed.update)
        }
      }
    }
  }

  /// Why the provider stands still, as far as its owner and its batch are concerned.
  var pauseReasons: PauseReasons { state.withLock { $0?.pauseReasons ?? [] } }

  /// Makes the elements stand still.
  func pause(_ reason: PauseReasons) {
    state.withLock { _ = $0?.pauseReasons.insert(reason) }
    _ = seen { $0.pause($1, reason) ? true : nil }
    isPausedHasChanged()
  }

  /// Ends one reason to stand still.
  ///
  /// - Returns: Whose pause is to be ended on the pipeline, if the newest elements show now.
  func beginResume(_ reason: PauseReasons) -> (collection: LiveCollection<T>, member: UInt64)? {
    state.withLock { _ = $0?.pauseReasons.remove(reason) }
    while true {
      let seat = seat
      guard let hasEnded = seat.collection.beginResume(seat.member, reason) else { continue }
      guard hasEnded else { return nil }
      isPausedHasChanged()
      dataHasChanged()
      return seat
    }
  }

  /// Whether two cache keys are the same; a collection without key is never another one's.
  static func isSame(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.hasSameBytes(as: right)
    default: false
    }
  }

  /// Goes over to a collection that it has joined.
  func move(to collection: LiveCollection<T>, _ member: UInt64) {
    guard
      let left = state.withLock({ state in
        let left = state
        state?.collection = collection
        state?.member = member
        return left
      })
    else { return }
    left.collection.leave(left.member)
    collection.attach(left.observed, left.tracking, to: member)
  }
}
