public import PandoModels

/// Receives the changes of a ``CollectionDataProvider`` that others made.
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
/// The first change follows the provider's `data` at the moment when the delegate was set, with its
/// uncommitted edits. Set the delegate and read `data` directly one after the other. If another thread
/// edits the list between the two, the first change may not fit the `data` that was read.
/// ``CollectionDataProvider/changes`` has no such gap.
///
/// Calls are made one after another on the manager's delivery target. Changes that the owner made
/// through the provider lead to no call. The delegate must not block the thread, because later
/// callbacks wait for it.
///
/// **The order of changes.** Each change leads from the previous list to the next one. An owner
/// that makes its calls on the delivery target's queue receives all changes in this order. A call
/// there first calls the delegate with all queued changes, and then returns its own change. Applied
/// in this order, the changes lead to the provider's `data`.
///
/// A call on another thread returns a change that follows all changes queued at that moment. An
/// owner on another thread should use ``CollectionDataProvider/changes`` instead, or read `data` as
/// a whole.
public protocol CollectionDataProviderDelegate: AnyObject, Sendable {
  /// Called after others have changed the elements of a provider.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider. Its own data may be newer than this change.
  ///   - collectionChanges: The change from the previous list to `data`. The previous list is that
  ///     of the last call, with later own changes applied.
  ///   - data: The list after the change. With a store it has the committed elements with
  ///     uncommitted edits on top: own ones, and those in `data` when the delegate was set.
  ///   - context: The context of the change.
  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
    context: (any Sendable)?)
}

extension CollectionDataProviderDelegate {
  /// The former callback, without the list after the change.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider.
  ///   - collectionChanges: The change.
  ///   - context: The context of the change.
  @available(
    *, unavailable,
    renamed: "collectionDataProviderHasUpdatedData(_:collectionChanges:data:context:)"
  )
  public func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
    context: (any Sendable)?
  ) {}
}
