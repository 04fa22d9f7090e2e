/// Receives the changes of single models.
///
/// ```swift
/// final class View: DataProviderDelegate {
///   func dataProviderHasUpdatedData<T>(_ provider: DataProvider<T>, context: (any Sendable)?) {
///     print("draw", provider.data as Any, "because of", context as Any)
///   }
/// }
/// ```
///
/// Called on the manager's delivery target, one call after another. It must not block the thread,
/// because later callbacks wait for it.
///
/// Use ``DataProvider/values`` instead to observe a provider in a task. Use
/// ``CollectionDataProviderDelegate`` for lists.
public protocol DataProviderDelegate: AnyObject, Sendable {
  /// Called when the data have changed, except by a call of the provider that shows its change at
  /// once, such as `setData(_:updateCache:context:)`.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider, with the new data.
  ///   - context: The context of the change.
  func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: (any Sendable)?)
}
