public import FoundationEssentials
public import PandoModels
import PandoSystem

/// One live model: each change by a provider, the manager or the store is visible here.
///
/// ```swift
/// let provider = DataProvider<Message>(dataModelManager: manager)
/// provider.delegate = self
/// provider.fetchDataFromCache(withCacheKey: "Message:34") { message, error in … }
/// provider.setData(message)
/// ```
/// A provider shows one root at a time. If the root or a node in its tree changes, `data` changes
/// and the delegate is called. ``setData(_:updateCache:context:)`` is visible immediately, before its
/// commit; ``update(context:_:)`` is visible after it.
///
/// Use a ``CollectionDataProvider`` for a list. Use `ModelStore.read(_:)` to read data once,
/// without observing them.
///
/// - Note: Any thread may use it. The manager does not retain it. Callbacks end when the provider
///   is released.
public final class DataProvider<T: SimpleModel>: Sendable {
  /// The manager that keeps this provider consistent with all others.
  public let dataModelManager: DataModelManager
  let holder: ModelHolder

  /// Creates a provider without data.
  ///
  /// - Parameter dataModelManager: The manager that keeps it consistent.
  public init(dataModelManager: DataModelManager) {
    self.dataModelManager = dataModelManager
    holder = ModelHolder(T.self, dataModelManager)
    holder.state.withLock { $0.provider = self }
  }

  deinit { holder.detach() }

  /// The model; `nil` before there is one, and after it was deleted.
  ///
  /// The provider's own uncommitted change takes precedence over the committed model.
  ///
  /// - Complexity: O(1); never waits for a disk.
  public var data: T? { holder.trackedData.flatMap(Self.unbox) }

  /// The identifier of the model, or the awaited one; `nil` if there is neither.
  public var modelIdentifier: String? {
    let (shown, awaited) = holder.state.withLock { state in
      (state.shown, state.rare?.announced ?? (!state.isCleared ? state.waitingFor : nil))
    }
    if let shown { return shown.modelIdentifier }
    return awaited
  }

  /// The time of the last change of the data, not of its delivery; `nil` if there was none.
  public var lastUpdated: Date? { holder.state.withLock { $0.lastUpdated } }

  /// The delegate that is called after changes; not retained.
  public var delegate: (any DataProviderDelegate)? {
    get { holder.state.withLock { $0.delegate } }
    set { holder.state.withLock { $0.delegate = newValue } }
  }

  /// A closure that is called before each call of the delegate; `nil` by default.
  ///
  /// Use it for work of the provider's owner, in place of an overridden method of a subclass. The
  /// delegate then remains free for observers.
  ///
  /// ```swift
  /// provider.modelUpdated = { message, _ in index.update(message) }
  /// ```
  /// The closure gets the newest data, which is `nil` after a deletion, and the context of the
  /// change. The provider retains the closure, so the closure must not retain the provider.
  public var modelUpdated: (@Sendable (_ model: T?, _ context: (any Sendable)?) -> Void)? {
    get {
      guard let told = holder.state.withLock({ $0.rare?.modelUpdated }) else { return nil }
      return { told($0, $1) }
    }
    set {
      let told = newValue.map { told -> ModelHolder.ModelUpdated in
        { told($0.flatMap(Self.unbox), $1) }
      }
      let old = holder.state.withLock { exchange(&$0.makeRare().modelUpdated, with: told) }
      withExtendedLifetime(old) {}  // ends outside the lock
    }
  }

  /// True if the provider is paused.
  ///
  /// While it is paused, `data` does not change and no callback is made, except for the provider's
  /// own changes. After a pause, the newest data are visible at once. One callback reports
  /// them if they differ.
  ///
  /// A provider is also paused with its batch, and while too many callbacks are queued. Setting
  /// `false` does not end these pauses.
  public var isPaused: Bool {
    get { holder.trackedIsPaused }
    set { if newValue { holder.pause(.owner) } else { holder.resume(.owner) } }
  }

  /// Sets the model, here and in all other providers of its nodes.
  ///
  /// It is visible here before the call returns. Other providers show it after the commit; without
  /// a store, asynchronously. The provider's own delegate is not called.
  ///
  /// This call sets the whole tree. Use ``update(context:_:)`` to change single fields of the
  /// newest version.
  ///
  /// - Parameters:
  ///   - data: The model. `nil` only clears this provider and ends its waiting; nothing is deleted.
  ///   - updateCache: True to store the change; false to change shown data only.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write. The caller may ignore it, because failures are also reported to
  ///   the manager's delegate. That of `nil` ends when the provider no longer follows the earlier
  ///   model or identifier.
  /// - Complexity: O(1); other threads do the work.
  @discardableResult
  public func setData(
    _ data: T?, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    defer { holder.dataHasChanged() }
    guard let data else { return holder.clear() }
    return holder.set(data, updatesCache: updateCache, context: context)
  }

  /// Changes the newest version of the model, so that concurrent changes by others are kept.
  ///
  /// The closure runs when the write is carried out. Changes of others in the model or its children
  /// are not overwritten.
  ///
  /// ```swift
  /// provider.update { $0.likeCount += 1 }
  /// ```
  /// Use ``setData(_:updateCache:context:)`` to set the whole tree. The change is visible after the
  /// commit; without a store, asynchronously. The delegate is called then.
  ///
  /// - Parameters:
  ///   - context: Passed to the delegates and listeners of the change.
  ///   - change: Changes the value; its identifier must stay. It may run more than once, so it must
  ///     have no other effects.
  /// - Returns: The pending write; the caller may ignore it. It fails with the error of `change`, with
  ///   the code `missingIdentifier` if the provider shows no model, and with `noSuchModel` if the
  ///   model was deleted meanwhile.
  @discardableResult
  public func update(
    context: (any Sendable)? = nil, _ change: @escaping @Sendable (inout T) throws -> Void
  ) -> PendingWrite {
    guard let identifier = holder.data?.modelIdentifier else {
      let error = DataProviderError(
        .missingIdentifier, String(describing: T.self),
        "the provider shows no model to change; set or fetch one first")
      return dataModelManager.refuse(error, [], context)
    }
    if let refusal = dataModelManager.refusal(ofReading: T.self) {
      return dataModelManager.refuse(refusal, [identifier], context)
    }
    return dataModelManager.updateLive(
      identifier, absence: .noSuchModel(identifier), context: context, change)
  }

  /// Writes the differences between two versions of the model, so that concurrent changes are kept.
  ///
  /// The change is visible after the commit; without a store, asynchronously. The delegate is
  /// called then.
  /// ```swift
  /// let shown = provider.data
  /// …
  /// provider.setData(edited, replacing: shown)
  /// ```
  ///
  /// - Parameters:
  ///   - data: The edited model.
  ///   - old: The model before the edit, with the same identifier.
  ///   - context: Passed to the delegates and listeners of the change.
  /// - Returns: The pending write; the caller may ignore it. It fails with the code `superseded` if
  ///   the model was deleted meanwhile.
  @discardableResult
  public func setData(
    _ data: T, replacing old: T, context: (any Sendable)? = nil
  ) -> PendingWrite where T: Codable {
    dataModelManager.updateModel(data, replacing: old, context: context)
  }

  /// Waits for an identifier without loading it.
  ///
  /// The first change that sets a model of this type under the identifier sets the data and calls
  /// the delegate. The provider's earlier data are cleared, unless they have this identifier. A
  /// store that can't be read does not end the waiting. Use
  /// ``fetchDataFromCache(withCacheKey:context:listensWhenAbsent:)`` to load an existing model.
  ///
  /// - Parameter identifier: The identifier to wait for.
  public func listen(to identifier: String) { holder.listen(to: identifier) }
}

extension DataProvider: ToldProvider {
  func tell(_ delegate: any DataProviderDelegate, context: (any Sendable)?) {
    delegate.dataProviderHasUpdatedData(self, context: context)
  }

  /// Returns the value of a type-erased model, which has type `T`.
  static func unbox(_ model: any SimpleModel) -> T? { open(model) }

  private static func open<M: SimpleModel>(_ model: M) -> T? {
    // The types are equal. A cast would look up the conformance each time.
    if M.self == T.self { return unsafe unsafeBitCast(model, to: T.self) }
    return model as? T
  }
}
