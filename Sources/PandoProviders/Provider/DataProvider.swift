public import FoundationEssentials
public import PandoModels
import PandoSystem

/// One live model: what is set on any provider, on the manager or in the store shows here.
///
/// ```swift
/// let provider = DataProvider<Message>(dataModelManager: manager)
/// provider.delegate = self
/// provider.fetchDataFromCache(withCacheKey: "Message:34") { message, error in … }
/// provider.setData(message)
/// ```
/// A provider shows one root at a time: a change of it, or of anything it contains, changes `data` and
/// is told to the delegate. What the provider has set itself shows at once, before it is committed.
///
/// - Note: Any thread may use it. It is not retained by the manager, and hears nothing any more once
///   it has gone.
public final class DataProvider<T: SimpleModel>: Sendable {
  /// The manager that keeps this provider consistent with all others.
  public let dataModelManager: DataModelManager
  let holder: ModelHolder

  /// Makes a provider without data.
  ///
  /// - Parameter dataModelManager: What keeps it consistent.
  public init(dataModelManager: DataModelManager) {
    self.dataModelManager = dataModelManager
    holder = ModelHolder(T.self, dataModelManager)
    holder.state.withLock { $0.provider = self }
  }

  deinit { holder.detach() }

  /// The model; `nil` before there is one, and after it was deleted.
  ///
  /// What the provider has set itself and is not committed yet counts before what is committed.
  ///
  /// - Complexity: O(1); never waits for a disk.
  public var data: T? { holder.trackedData.flatMap(Self.unbox) }

  /// The identifier of the model, or the one that is awaited; `nil` if there is neither.
  public var modelIdentifier: String? {
    let (shown, awaited) = holder.state.withLock { state in
      (state.shown, state.rare?.announced ?? (!state.isCleared ? state.waitingFor : nil))
    }
    if let shown { return shown.modelIdentifier }
    return awaited
  }

  /// When the data were changed: the time of the change, not of its delivery; `nil` if never.
  public var lastUpdated: Date? { holder.state.withLock { $0.lastUpdated } }

  /// Who hears of changes; not retained.
  public var delegate: (any DataProviderDelegate)? {
    get { holder.state.withLock { $0.delegate } }
    set { holder.state.withLock { $0.delegate = newValue } }
  }

  /// A closure that is called whenever the delegate would be, before it; `nil` by default.
  ///
  /// It is for what belongs to the provider itself, as a subclass would override it, and leaves the
  /// delegate to those who show the data:
  ///
  /// ```swift
  /// provider.modelUpdated = { message, _ in index.update(message) }
  /// ```
  /// It gets the newest data, which is `nil` once they are deleted, and the context of the change. The
  /// provider keeps it, so it must not keep the provider.
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

  /// Whether the provider stands still.
  ///
  /// While it does, `data` stays and nobody is called, but for what the provider sets itself. At the
  /// end the newest data show at once, and one callback tells of them if they are other ones. A
  /// provider also stands still with its batch, and while too many callbacks are not delivered;
  /// setting this to `false` does not end that.
  public var isPaused: Bool {
    get { holder.trackedIsPaused }
    set { if newValue { holder.pause(.owner) } else { holder.resume(.owner) } }
  }

  /// Shows a model, and lets everybody else show it.
  ///
  /// It shows here before this returns, and in other providers once it is committed (without a store,
  /// soon). The provider's own delegate is not called.
  ///
  /// - Parameters:
  ///   - data: The model. `nil` clears this provider only and ends its waiting; nothing is deleted.
  ///   - updateCache: Whether it is stored; else it is shown only.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way. It can be ignored: failures are told to the manager's delegate
  ///   too. That of `nil` ends when it is carried out: from then on nothing of what was shown or
  ///   awaited is listened to.
  /// - Complexity: O(1); the work is done by others.
  @discardableResult
  public func setData(
    _ data: T?, updateCache: Bool = true, context: (any Sendable)? = nil
  ) -> PendingWrite {
    defer { holder.dataHasChanged() }
    guard let data else { return holder.clear() }
    return holder.set(data, updatesCache: updateCache, context: context)
  }

  /// Changes the model as it is when its turn comes: nothing is lost that others have changed meanwhile, in
  /// it or in what it contains.
  ///
  /// ```swift
  /// provider.update { $0.likeCount += 1 }
  /// ```
  /// ``setData(_:updateCache:context:)`` says what the whole tree is to be, with all that it carries along;
  /// this says what is to be different. It shows once it is committed (without a store, soon), and the
  /// delegate is called then.
  ///
  /// - Parameters:
  ///   - context: Travels to everyone who is told.
  ///   - change: Changes the value; its identifier stays. It may run more than once, so it must change
  ///     nothing else.
  /// - Returns: The write on its way; it can be ignored. It fails with what `change` throws, and with the code
  ///   `missingIdentifier` where nothing is shown.
  @discardableResult
  public func update(
    context: (any Sendable)? = nil, _ change: @escaping @Sendable (inout T) throws -> Void
  ) -> PendingWrite {
    guard let identifier = holder.data?.modelIdentifier else {
      let error = DataProviderError(
        .missingIdentifier, String(describing: T.self),
        "the provider shows no model that could be changed; set or fetch one first")
      return dataModelManager.refuse(error, [], context)
    }
    if let refusal = dataModelManager.refusal(ofReading: T.self) {
      return dataModelManager.refuse(refusal, [identifier], context)
    }
    return dataModelManager.updateLive(identifier, context: context, change)
  }

  /// Sets what differs between two versions of the model, and leaves all else as others have made it
  /// meanwhile.
  ///
  /// It shows once it is committed (without a store, soon), and the delegate is called then.
  /// ```swift
  /// let shown = provider.data
  /// …
  /// provider.setData(edited, replacing: shown)
  /// ```
  ///
  /// - Parameters:
  ///   - data: The model that is wanted.
  ///   - old: The model that was edited, with the same identifier.
  ///   - context: Travels to everyone who is told.
  /// - Returns: The write on its way; it can be ignored. It fails with the code `superseded` where the model has
  ///   been deleted meanwhile.
  @discardableResult
  public func setData(
    _ data: T, replacing old: T, context: (any Sendable)? = nil
  ) -> PendingWrite where T: Codable {
    dataModelManager.updateModel(data, replacing: old, context: context)
  }

  /// Waits for an identifier that is not there yet, without asking for it.
  ///
  /// The first change anywhere that brings a model of this type under the identifier sets the data and
  /// calls the delegate. What was shown before is cleared; a provider that shows this identifier
  /// already goes on. A store that can't be read does not end the waiting.
  ///
  /// - Parameter identifier: The identifier to wait for.
  public func listen(to identifier: String) { holder.listen(to: identifier) }
}

extension DataProvider: ToldProvider {
  func tell(_ delegate: any DataProviderDelegate, context: (any Sendable)?) {
    delegate.dataProviderHasUpdatedData(self, context: context)
  }

  /// The model in a box, which is one of type `T`.
  static func unbox(_ model: any SimpleModel) -> T? { open(model) }

  private static func open<M: SimpleModel>(_ model: M) -> T? {
    // The types are the same; a cast would look that up each time.
    if M.self == T.self { return unsafe unsafeBitCast(model, to: T.self) }
    return model as? T
  }
}
