public import FoundationEssentials

/// A provider, whatever it shows.
///
/// ```swift
/// let providers: [any AnyDataProvider] = [message, contacts]
/// for provider in providers { provider.isPaused = true }
/// ```
///
/// `DataProvider` and `CollectionDataProvider` are the two kinds; there is no need to conform other
/// types. Any thread may use it.
public protocol AnyDataProvider: AnyObject, Sendable {
  /// The manager that keeps this provider consistent with all others.
  var dataModelManager: DataModelManager { get }
  /// Whether the provider stands still.
  var isPaused: Bool { get set }
  /// When the data were changed: the time of the change, not of its delivery; `nil` if never.
  var lastUpdated: Date? { get }
}
