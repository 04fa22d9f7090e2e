public import FoundationEssentials

/// A provider of any kind.
///
/// ```swift
/// let providers: [any AnyDataProvider] = [message, contacts]
/// for provider in providers { provider.isPaused = true }
/// ```
///
/// `DataProvider` and `CollectionDataProvider` are the two kinds. Do not conform other types. Use
/// these types themselves to read data. Any thread may use a provider.
public protocol AnyDataProvider: AnyObject, Sendable {
  /// The manager that keeps this provider consistent with all others.
  var dataModelManager: DataModelManager { get }
  /// True if the provider is paused.
  var isPaused: Bool { get set }
  /// The time of the last change of the data, not of its delivery; `nil` if there was none.
  var lastUpdated: Date? { get }
}
