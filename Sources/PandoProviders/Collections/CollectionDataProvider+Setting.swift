import PandoConsistency
import PandoModels
import PandoSystem

extension CollectionDataProvider {
  /// Sets all elements and the cache key under which they are stored and shared.
  ///
  /// The elements are visible at once, here and in all providers of the cache key. Pando writes
  /// them once.
  ///
  /// - Parameters:
  ///   - models: The elements in order.
  ///   - cacheKey: The key; with `nil` the elements belong to this provider only, and are not
  ///     stored. Other live data show their models all the same.
  ///   - updateCache: True to write to the store or cache.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write with the change of the list. Pando refuses it if the key's
  ///   elements have another type.
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

  /// True if the provider is paused: changes by others are neither visible nor reported.
  ///
  /// Changes through this provider stay visible. After a pause, the newest elements are visible at
  /// once. The delegate then gets one call with all changes since its last call, if there are any.
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
          scope.publish([resumed])
        }
      }
    }
  }

  /// The reasons for a pause by the owner and the batch.
  var pauseReasons: PauseReasons { state.withLock { $0?.pauseReasons ?? [] } }

  func pause(_ reason: PauseReasons) {
    state.withLock { _ = $0?.pauseReasons.insert(reason) }
    _ = seen { $0.pause($1, reason) ? true : nil }
    isPausedHasChanged()
  }

  /// Removes one reason to pause.
  ///
  /// - Returns: The member whose pause must be ended on the pipeline, if the newest elements are
  ///   visible now.
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

  /// Returns true if two cache keys are equal.
  ///
  /// Two missing keys are equal here, because a collection without a key belongs to one provider.
  static func isSame(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.hasSameBytes(as: right)
    default: false
    }
  }

  /// Moves the provider to a collection that it has joined.
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
