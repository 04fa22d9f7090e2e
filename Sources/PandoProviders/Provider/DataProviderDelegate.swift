/// Hears of changes of single models.
///
/// ```swift
/// final class View: DataProviderDelegate {
///   func dataProviderHasUpdatedData<T>(_ provider: DataProvider<T>, context: (any Sendable)?) {
///     print("draw", provider.data as Any, "because of", context as Any)
///   }
/// }
/// ```
///
/// Called on the manager's delivery target, one call after another. It must not block the thread there: the
/// calls behind it wait.
public protocol DataProviderDelegate: AnyObject, Sendable {
  /// Called when something other than the provider's own calls has changed its data.
  ///
  /// - Parameters:
  ///   - dataProvider: The provider, with the new data.
  ///   - context: What the change was made with.
  func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: (any Sendable)?)
}
