public import PandoModels

/// Is told when others have changed what a ``CollectionDataProvider`` shows.
///
/// ```swift
/// func collectionDataProviderHasUpdatedData<T>(
///   _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
///   context: (any Sendable)?
/// ) {
///   if case .changes(let changes) = collectionChanges { redraw(changes) } else { redrawAll() }
/// }
/// ```
///
/// Calls come one after another where the manager delivers, and not for changes that the provider's
/// owner made through it. They must not block the thread there: those behind them wait.
public protocol CollectionDataProviderDelegate: AnyObject, Sendable {
  /// Called after others have changed the elements of a provider.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider. Its data may be newer than this change.
  ///   - collectionChanges: What happened since the call before; all changes, applied one after
  ///     another together with those that the provider's own calls returned, give its data.
  ///   - context: What whoever made the change passed along.
  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
    context: (any Sendable)?)
}
