public import PandoModels

/// Is told when others have changed what a ``CollectionDataProvider`` shows.
///
/// ```swift
/// func collectionDataProviderHasUpdatedData<T>(
///   _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
///   context: (any Sendable)?
/// ) {
///   rows = rows.applying(collectionChanges, from: data) { Row($0) }
/// }
/// ```
///
/// The first change leads on from the provider's `data` at the moment when the delegate was set: make the rows of it then.
///
/// Calls come one after another where the manager delivers, and not for changes that the provider's
/// owner made through it. They must not block the thread there: those behind them wait.
///
/// **The order of changes.** Each change leads from the list before it to the next one. An owner that makes its
/// calls on the queue where the manager delivers gets all of them in this order. A call there first calls the delegate
/// with all changes that are queued for the provider, and then returns its own change. So these changes, applied
/// in the order in which the queue sees them, lead to the provider's `data`. A call on another thread returns a
/// change that belongs behind all that is queued at that moment; an owner on another thread iterates over
/// ``CollectionDataProvider/changes`` instead, or reads `data` as a whole.
public protocol CollectionDataProviderDelegate: AnyObject, Sendable {
  /// Called after others have changed the elements of a provider.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider. Its own data may be newer than this change.
  ///   - collectionChanges: What leads from the list before to `data`: from that of the call before, or from what the
  ///     change of an own call made of it.
  ///   - data: The list that the change leads to. With a store it has what is committed, and own edits on top.
  ///   - context: What whoever made the change passed along.
  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
    context: (any Sendable)?)
}

extension CollectionDataProviderDelegate {
  /// The former call, without the list that a change leads to.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider.
  ///   - collectionChanges: What happened.
  ///   - context: What whoever made the change passed along.
  @available(
    *, unavailable,
    renamed: "collectionDataProviderHasUpdatedData(_:collectionChanges:data:context:)"
  )
  public func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
    context: (any Sendable)?
  ) {}
}
